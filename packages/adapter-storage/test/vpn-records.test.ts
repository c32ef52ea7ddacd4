import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { nothingHeldByVpn, userNumberRestMillis } from "@rangewright/domain"
import { Users, VpnRecords } from "@rangewright/ports"
import { expect, it } from "vitest"
import { newUser, onFile, temporaryFolder } from "./support.ts"

it.each(["{", '{"has":7}', "null"])(
  "a damaged record of the VPN's server (%s) says so, keeps resting numbers from others, and is written anew",
  async (record) => {
    const file = join(await temporaryFolder(), "data.db")
    const create = (id: string) =>
      onFile(
        file,
        Users.use((users) => users.create(newUser(id))),
      )
    const hold = (version: number) =>
      onFile(
        file,
        VpnRecords.use((records) => records.hold(nothingHeldByVpn, version)),
      )
    const held = () =>
      onFile(
        file,
        VpnRecords.use((records) => records.held),
      )
    await hold(0)
    const { id, number } = await create("alice")
    await onFile(
      file,
      Users.use((users) => users.remove(id)),
    )
    const database = new DatabaseSync(file)
    database.prepare("update resting_user_numbers set since = since - ?").run(2 * userNumberRestMillis)
    database.prepare("update vpn_server set record = ?").run(record)
    database.close()
    expect(await held()).toMatchObject({ version: 1, held: { unseen: true, trouble: expect.stringContaining("vpn_server") } })
    expect((await create("bob")).number).not.toBe(number)
    await hold(1)
    expect(await held()).toEqual({ version: 2, held: nothingHeldByVpn })
    expect((await create("carol")).number).toBe(number)
  },
)
