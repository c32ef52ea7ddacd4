import type { GroupName, Range, User } from "@rangewright/domain"
import { Groups, Ranges, VpnRecords } from "@rangewright/ports"
import { beforeEach, describe, expect, it } from "vitest"
import { giveMissingVpnKeys } from "../src/vpn/keys.ts"
import { makeTestApp, type TestApp } from "./support/app.ts"

const server = { host: "vpn.example.org", port: 51_821, publicKey: "6LLkGhyZ4rh8K7xqNZ5jDLzX5A7gxrXqgGm6VhXHXXI=" }
let app: TestApp
let ada: User
let lab: Range
beforeEach(async () => {
  app = makeTestApp({ settings: { vpn: server } })
  ada = await app.addUser("Ada")
  lab = await app.addRange("LAB", [ada])
})

const fileOf = async (user: User, id = "getWireguardConfig"): Promise<Readonly<Record<string, string>>> => {
  const { result } = (await app.call(id, user)) as { readonly result: { readonly wireGuardConfig: string } }
  const lines = result.wireGuardConfig.split("\n").filter((line) => line.includes(" = "))
  return Object.fromEntries(lines.map((line) => line.split(" = ") as [string, string]))
}

describe("the file of a WireGuard client", () => {
  it("leads to each range that the user may use, once, and to no other", async () => {
    await app.run(giveMissingVpnKeys)
    const other = await app.addRange("OTHER", [])
    const reds = "reds" as GroupName
    await app.run(
      Groups.use((groups) => groups.create({ name: reds, recordId: "g" as never, description: "", createdAt: new Date(0) })),
    )
    await app.run(Groups.use((groups) => groups.setRoles(reds, new Map([[ada.id, "member"]]))))
    for (const range of [lab, other]) await app.run(Groups.use((groups) => groups.addRange(reds, range.id)))
    await app.addRange("HIDDEN", [])
    const allowed = (numbers: readonly number[]) => ["198.51.100.1/32", ...numbers.map((n) => `10.${n}.0.0/16`)].join(",")
    expect(await fileOf(ada)).toMatchObject({
      Address: `198.51.100.${ada.number}/32`,
      PublicKey: server.publicKey,
      Endpoint: "vpn.example.org:51821",
      AllowedIPs: allowed([lab.number, other.number]),
      PersistentKeepalive: "25",
    })
    await app.run(Groups.use((groups) => groups.remove(reds)))
    await app.run(Ranges.use((ranges) => ranges.revoke(lab.id, ada.id)))
    expect(await fileOf(ada)).toMatchObject({ AllowedIPs: allowed([]) })
  })

  it("has a key that only its user has, from the moment the user is made, until it is replaced", async () => {
    const admin = await app.addUser("Boss", { isAdmin: true })
    await app.call("addUser", admin, { body: { name: "Bob", userID: "Bob", email: "bob@lab.example", isAdmin: false } })
    const bob = app.store.users.get("Bob" as never)?.user
    if (bob === undefined) throw new Error("no Bob")
    const first = await fileOf(bob)
    await app.run(giveMissingVpnKeys)
    expect(await fileOf(bob)).toEqual(first)
    expect((await fileOf(ada))["PrivateKey"]).not.toBe(first["PrivateKey"])
    const published = await app.run(VpnRecords.use((records) => records.key(bob.id)))
    const second = await fileOf(bob, "rotateWireguardKey")
    expect(second["PrivateKey"]).not.toBe(first["PrivateKey"])
    expect(await fileOf(bob)).toEqual(second)
    expect(await app.run(VpnRecords.use((records) => records.key(bob.id)))).not.toEqual(published)
  })

  it("is refused to somebody without a key, to ROOT, and where there is no VPN; each says what to do", async () => {
    expect(await app.fails("getWireguardConfig", ada)).toMatchObject({
      _tag: "Conflict",
      message: expect.stringContaining("no key yet"),
    })
    const root = await app.addUser("ROOT", { isAdmin: true })
    await app.run(giveMissingVpnKeys)
    for (const id of ["getWireguardConfig", "rotateWireguardKey"])
      expect(await app.fails(id, root)).toMatchObject({ _tag: "NotFound", message: expect.stringContaining("ROOT") })
    const without = makeTestApp({ after: app })
    for (const id of ["getWireguardConfig", "rotateWireguardKey"])
      expect(await without.fails(id, ada)).toMatchObject({
        _tag: "NotFound",
        hint: expect.stringContaining("wireguard_endpoint"),
      })
  })
})
