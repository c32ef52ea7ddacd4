import { cryptoLayer } from "@rangewright/adapter-crypto"
import { makeMemoryStore, makeMemoryWorld, memoryHypervisorLayer, memoryStorageLayer } from "@rangewright/adapter-memory"
import { legacyLayer } from "@rangewright/adapter-storage"
import { authenticate, importLegacy, Settings } from "@rangewright/application"
import type { UserId } from "@rangewright/domain"
import { CredentialHasher, LegacyData, SecretStore, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { labSettings } from "../runs/support/lab.ts"

/** bcrypt of this key, made by another program. */
const key = "JD._7Gx2T5kTUSD%uTWZ*lFi=Os6MpFR^OrG+yT94Xt"
const hash = "$2b$04$abcdefghijklmnopqrstuu7mj0gnDIEetXvxbxGxymJLeDAPu9P7K"

let folder: string
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "legacy-"))))
afterEach(() => rmSync(folder, { recursive: true }))

/** The old service's database and files. */
const install = (): void => {
  const database = new DatabaseSync(join(folder, "ludus.db"))
  database.exec(`
    create table user_objects (name text, user_id text, date_created datetime, date_last_active datetime, is_admin numeric,
      hashed_api_key text, proxmox_username text, portforwarding_enabled numeric);
    create table range_objects (user_id text, range_number integer, last_deployment datetime, number_of_vms integer,
      testing_enabled numeric, allowed_domains text, allowed_ips text, range_state text);
    create table range_access_objects (target_user_id text, source_user_ids text);
    insert into user_objects values ('John Doe', 'JD', '2024-02-03 04:05:06.789+00:00', null, 1, '${hash}', 'john-doe', 0);
    insert into user_objects values ('Ann', 'AB', null, null, 0, '', 'ann', 0);
    insert into user_objects values ('Evil', 'EV', null, null, 0, '', '../../etc', 0);
    insert into range_objects values ('JD', 3, '0001-01-01 00:00:00+00:00', 4, 1, 'example.com (192.0.2.9) | other.example', '', 'SUCCESS');
    insert into range_objects values ('AB', 7, null, 0, 0, '', '', 'NEVER DEPLOYED');
    insert into range_objects values ('EV', 8, null, 0, 0, '', '', '');
    insert into range_access_objects values ('JD', 'AB| ');
  `)
  database.close()
  mkdirSync(join(folder, "users/john-doe"), { recursive: true })
  writeFileSync(join(folder, "users/john-doe/proxmox_password"), "a good password\n")
  writeFileSync(join(folder, "users/john-doe/range-config.yml"), "ludus: []\n# mine\n")
  mkdirSync(join(folder, "users/ann"))
  symlinkSync("/etc/passwd", join(folder, "users/ann/range-config.yml"))
}

const service = () => {
  const store = makeMemoryStore()
  const layer = Layer.mergeAll(
    memoryStorageLayer(store),
    memoryHypervisorLayer(makeMemoryWorld()),
    cryptoLayer({ bytes: new Uint8Array(32) }),
    Layer.succeed(Settings, labSettings),
    legacyLayer(folder),
  )
  return {
    store,
    run: <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof layer>>) => Effect.runPromise(Effect.provide(effect, layer)),
  }
}

describe("an installation of the first generation", () => {
  it("that is not there is nothing to migrate", async () => {
    expect(await service().run(importLegacy(false))).toBe(
      `Nothing to migrate: there is no database of an older installation (${join(folder, "ludus.db")}).`,
    )
  })

  it("is taken over with its users, ranges, passwords, configurations and accesses", async () => {
    install()
    const { store, run } = service()
    expect(await run(importLegacy(true))).toMatch(/^The migration would take over 2 users, 2 ranges and 1 further access\./u)
    expect(store.users.size).toBe(0)
    expect(await run(importLegacy(false))).toBe(
      [
        "The migration is complete: 2 users, 2 ranges and 1 further access taken over.",
        "! the API key of user AB: its hash is not one of bcrypt with a cost of 4 to 14",
        "! user EV: ../../etc is no name of an account",
      ].join("\n"),
    )
    expect([...store.users.values()].map(({ user }) => [user.id, user.number, user.isAdmin, user.hypervisorUsername])).toEqual([
      ["JD", 3, true, "john-doe"],
      ["AB", 7, false, "ann"],
    ])
    expect([...store.ranges.values()].map(({ id, number, testing }) => [id, number, testing])).toEqual([
      ["JD", 3, { enabled: true, allowedDomains: ["example.com (192.0.2.9)", "other.example"], allowedIps: [] }],
      ["AB", 7, { enabled: false, allowedDomains: [], allowedIps: [] }],
    ])
    expect([...store.configs].map(([id, { text }]) => [id, text])).toEqual([
      ["JD", "ludus: []\n# mine\n"],
      ["AB", "ludus: []\n"],
    ])
    expect([...store.grants].map(([id, users]) => [id, [...users]])).toEqual([
      ["JD", ["JD", "AB"]],
      ["AB", ["AB"]],
    ])
    const secrets = store.users.get("JD" as UserId)!.secrets
    expect(await run(SecretStore.use((kept) => kept.open(secrets.sealedPassword ?? "", "password of JD")))).toBe(
      "a good password",
    )
  })

  it("keeps its keys, which are hashed anew when they are shown", async () => {
    install()
    const { store, run } = service()
    await run(importLegacy(false))
    const show = (apiKey: string) => run(authenticate({ apiKey, authorization: undefined }))
    await expect(show(`${key}x`)).rejects.toThrow("not valid")
    expect((await show(key))?.id).toBe("JD")
    const now = store.users.get("JD" as UserId)!.secrets.apiKeyHash ?? ""
    expect(now).not.toBe(hash)
    expect(await run(CredentialHasher.use((hasher) => Effect.succeed(hasher.verify(key, now))))).toBe(true)
    expect((await show(key))?.id).toBe("JD")
  })

  it("leaves no file beside a database that another program has open, and reads what that one wrote last", async () => {
    install()
    const other = new DatabaseSync(join(folder, "ludus.db"))
    other.exec("pragma journal_mode = wal; update user_objects set name = 'Written last' where user_id = 'JD'")
    const before = readdirSync(folder).toSorted()
    const { store, run } = service()
    await run(importLegacy(false))
    expect(store.users.get("JD" as UserId)?.user.name).toBe("Written last")
    expect(readdirSync(folder).toSorted()).toEqual(before)
    other.close()
  })

  it("taken over twice is taken over once, and its database is never changed", async () => {
    install()
    const bytes = readFileSync(join(folder, "ludus.db"))
    const { store, run } = service()
    await run(importLegacy(false))
    const before = JSON.stringify([[...store.users], [...store.ranges], [...store.grants].map(([id, users]) => [id, [...users]])])
    expect(await run(importLegacy(false))).toMatch(
      /^The migration is complete: 0 users, 0 ranges and 0 further accesses taken over\./u,
    )
    expect(JSON.stringify([[...store.users], [...store.ranges], [...store.grants].map(([id, users]) => [id, [...users]])])).toBe(
      before,
    )
    expect(readFileSync(join(folder, "ludus.db")).equals(bytes)).toBe(true)
  })

  it("goes on where an import was broken off", async () => {
    install()
    const { store, run } = service()
    await run(importLegacy(false))
    store.ranges.delete("JD" as never)
    store.grants.delete("JD" as never)
    await run(Users.use((users) => users.remove("AB" as UserId)))
    store.ranges.delete("AB" as never)
    expect(await run(importLegacy(false))).toMatch(
      /^The migration is complete: 1 user, 2 ranges and 1 further access taken over\./u,
    )
  })

  it("whose database is damaged is a failure that names it, and nothing is changed", async () => {
    writeFileSync(join(folder, "ludus.db"), "no database, but long enough to be read as the head of one ".repeat(10))
    const { store, run } = service()
    await expect(run(importLegacy(false))).rejects.toThrow(`Cannot read the older installation in ${folder}`)
    expect(store.users.size).toBe(0)
    await expect(run(LegacyData.use(({ read }) => read))).rejects.toMatchObject({ kind: "unavailable" })
  })
})
