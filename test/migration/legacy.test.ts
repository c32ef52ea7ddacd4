import { cryptoLayer } from "@rangewright/adapter-crypto"
import {
  addTemplate,
  makeMemoryNames,
  makeMemoryStore,
  makeMemoryWorld,
  memoryHypervisorLayer,
  memoryNamesLayer,
  memoryStorageLayer,
  mayUsePool,
  type MemoryVm,
  type MemoryWorld,
} from "@rangewright/adapter-memory"
import { legacyLayer } from "@rangewright/adapter-storage"
import {
  accessControlLayer,
  accessRun,
  authenticate,
  importLegacy,
  rangeEngineLayer,
  runPlannerLayer,
  Settings,
} from "@rangewright/application"
import { type RangeId, readDescription, type UserId, type Vmid } from "@rangewright/domain"
import { CredentialHasher, LegacyData, Machines, Ranges, SecretStore, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { labSettings } from "../runs/support/lab.ts"
import { oldTables } from "./support/old-tables.ts"

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
    ${oldTables}
    insert into user_objects values ('John Doe', 'JD', '2024-02-03 04:05:06.789+00:00', null, 1, '${hash}', 'john-doe', 0);
    insert into user_objects values ('Ann', 'AB', null, null, 0, '', 'ann', 0);
    insert into user_objects values ('Evil', 'EV', null, null, 0, '', '../../etc', 0);
    insert into range_objects values ('JD', 3, '2024-05-06 07:08:09.123456789+02:00', 4, 1, 'example.com (192.0.2.9) | other.example', '', 'SUCCESS');
    insert into range_objects values ('AB', 7, null, 0, 0, '', '', 'NEVER DEPLOYED');
    insert into range_objects values ('EV', 8, null, 0, 0, '', '', '');
    insert into vm_objects values (1, 104, 3, 'JD-web', 1, '10.3.10.11'), (2, 105, 3, 'JD-old', 0, 'null'), (3, 106, 99, 'X', 1, '');
    insert into range_access_objects values ('JD', 'AB| ');
  `)
  database.close()
  mkdirSync(join(folder, "users/john-doe"), { recursive: true })
  writeFileSync(join(folder, "users/john-doe/proxmox_password"), "a good password\n")
  writeFileSync(join(folder, "users/john-doe/range-config.yml"), config)
  mkdirSync(join(folder, "users/ann"))
  symlinkSync("/etc/passwd", join(folder, "users/ann/range-config.yml"))
}

/** Bytes that parsing and rewriting would change. */
const config = `\ufeffludus:\r
  - vm_name: "{{ range_id }}-web"
    hostname: "web"
    template: t
    vlan: 10
    ip_last_octet: 11
    ram_gb: 4
    cpus: 2
    linux: true   # mine
`

const changeVm = (world: MemoryWorld, vmid: number, change: Partial<MemoryVm>): void => {
  const vm = world.vms.get(vmid as Vmid)
  if (vm !== undefined) world.vms.set(vm.vmid, { ...vm, ...change })
}

/** The old service's VMs, in the pool of JD's range: two that its database knows, one that it does not. */
const oldVms = () => {
  const world = makeMemoryWorld()
  world.pools.add("JD" as RangeId)
  const add = (vmid: number, name: string, description: string) => {
    addTemplate(world, vmid, name)
    changeVm(world, vmid, { template: false, pool: "JD", description, power: "running" })
  }
  add(104, "JD-web", '{"groups": ["JD_linux",]}')
  add(107, "JD-mine", "")
  return world
}

const service = (world = oldVms()) => {
  const store = makeMemoryStore()
  const ports = Layer.mergeAll(
    memoryStorageLayer(store),
    memoryHypervisorLayer(world),
    cryptoLayer({ bytes: new Uint8Array(32) }),
    Layer.succeed(Settings, labSettings),
    memoryNamesLayer(makeMemoryNames()),
    legacyLayer(folder),
  )
  const layer = rangeEngineLayer({ owner: "service" }, [accessRun]).pipe(
    Layer.provideMerge(Layer.merge(runPlannerLayer, accessControlLayer)),
    Layer.provideMerge(ports),
  )
  return {
    store,
    world,
    run: <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof layer>>) => Effect.runPromise(Effect.provide(effect, layer)),
  }
}

describe("an installation of the first generation", () => {
  it("that does not exist leaves nothing to import", async () => {
    expect(await service().run(importLegacy(false))).toBe(
      `Nothing to migrate: no database of an older installation was found (${join(folder, "ludus.db")}).`,
    )
  })

  it("is imported with its users, ranges, passwords, configurations, access and machines", async () => {
    install()
    const { store, world, run } = service()
    const told = [
      "! the range of user JD: testing is on, but its router has the rules of the old service, so its testing state is entering: start testing again, or stop it",
      "! the API key of user AB: its hash is not a bcrypt hash with a cost of 4 to 14",
      "! user AB: the file users/ann/range-config.yml was left out: it is a link",
      "! user EV: ../../etc is not a valid account name",
      "! machines of the database whose range was not imported: 1",
      "! JD-old (VM 105): the hypervisor has no such VM in the pool JD",
      "! JD-mine (VM 107) is left unchanged: the configuration has no such machine",
    ]
    expect((await run(importLegacy(true))).split("\n")).toEqual([
      "The migration would import 2 users, 2 ranges, 1 further grant of access and 1 machine.",
      ...told,
    ])
    expect(store.users.size).toBe(0)
    expect(world.calls.filter(({ mutating }) => mutating)).toEqual([])
    expect((await run(importLegacy(false))).split("\n")).toEqual([
      "The migration is complete: 2 users, 2 ranges, 1 further grant of access and 1 machine imported.",
      ...told,
    ])
    expect([...store.users.values()].map(({ user }) => [user.id, user.number, user.isAdmin, user.hypervisorUsername])).toEqual([
      ["JD", 3, true, "john-doe"],
      ["AB", 7, false, "ann"],
    ])
    expect([...store.ranges.values()].map(({ id, number, state, testing }) => [id, number, state, testing])).toEqual([
      ["JD", 3, "SUCCESS", { mode: "entering", allowedDomains: ["example.com (192.0.2.9)", "other.example"], allowedIps: [] }],
      ["AB", 7, "NEVER DEPLOYED", { mode: "off", allowedDomains: [], allowedIps: [] }],
    ])
    expect(store.ranges.get("JD" as RangeId)?.lastDeploymentAt).toEqual(new Date("2024-05-06T05:08:09.123Z"))
    expect(store.users.get("JD" as UserId)?.user.defaultRangeId).toBe("JD")
    expect(["JD", "AB"].map((id) => mayUsePool(world, id))).toEqual([["ann@pam", "john-doe@pam"], ["ann@pam"]])
    expect([...store.configs].map(([id, { text }]) => [id, text])).toEqual([
      ["JD", config],
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

  it("keeps its API keys, which are rehashed when they are used", async () => {
    install()
    const { store, run } = service()
    await run(importLegacy(false))
    const show = (apiKey: string) => run(authenticate({ apiKey, authorization: undefined }))
    await expect(show(`${key}x`)).rejects.toThrow("not valid")
    expect((await show(key))?.user.id).toBe("JD")
    const now = store.users.get("JD" as UserId)!.secrets.apiKeyHash ?? ""
    expect(now).not.toBe(hash)
    expect(await run(CredentialHasher.use((hasher) => Effect.succeed(hasher.verify(key, now))))).toBe(true)
    expect((await show(key))?.user.id).toBe("JD")
  })

  it("is read with the newest changes of another program that has its database open, and gets no file next to it", async () => {
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

  it("shows its machines at once with their known addresses, and the named ones become ours", async () => {
    install()
    const { world, run } = service()
    await run(importLegacy(false))
    const shown = await run(Machines.use((machines) => machines.ofRange("JD" as RangeId)))
    expect(shown.map(({ vmid, name, power, address }) => [vmid, name, power, address])).toEqual([
      [104, "JD-web", "running", "10.3.10.11"],
      [107, "JD-mine", "running", undefined],
    ])
    expect(readDescription(world.vms.get(104 as Vmid)!.description)).toEqual({
      groups: ["JD_linux"],
      mark: { range: "JD", machine: "JD-web", adopted: true },
    })
    expect(world.vms.get(107 as Vmid)?.description).toBe("")
  })

  it("shows what its database knew while the hypervisor is unreachable, and adopts the machines when the import is repeated", async () => {
    install()
    const world = oldVms()
    const { run } = service(world)
    world.fault = ({ port }) => (port === "hypervisor" ? { when: "before", reason: "away" } : undefined)
    expect(await run(importLegacy(false))).toMatch(
      /^The migration is complete: 2 users, 2 ranges, 1 further grant of access and 0 machines/u,
    )
    const shown = await run(Machines.use((machines) => machines.ofRange("JD" as RangeId)))
    expect(shown.map(({ vmid, name, power, address }) => [vmid, name, power, address])).toEqual([
      [104, "JD-web", "running", "10.3.10.11"],
      [105, "JD-old", "stopped", undefined],
    ])
    world.fault = () => undefined
    expect(await run(importLegacy(false))).toMatch(
      /^The migration is complete: 0 users, 0 ranges, 0 further grants of access and 1 machine/u,
    )
  })

  it("keeps a machine unchanged that somebody changes during the import", async () => {
    install()
    const world = oldVms()
    const { run } = service(world)
    world.fault = ({ method }) => {
      if (method === "adopt") changeVm(world, 104, { description: "mine now" })
      return undefined
    }
    expect(await run(importLegacy(false))).toContain("VM 104 is not the one that was read")
    expect(world.vms.get(104 as Vmid)?.description).toBe("mine now")
  })

  it("keeps an invalid configuration byte for byte, and adopts its machines once it is fixed", async () => {
    install()
    const broken = "ludus: [ # never closed\n\0"
    writeFileSync(join(folder, "users/john-doe/range-config.yml"), broken)
    const { store, run } = service()
    const text = await run(importLegacy(false))
    expect(text).toContain("! the configuration of range JD: it was imported unchanged and has errors")
    expect(text).toContain(
      "! JD-web (VM 104) is left unchanged: the configuration of its range has errors; fix it and repeat the import",
    )
    expect(store.configs.get("JD" as RangeId)?.text).toBe(broken)
    await run(Ranges.use((ranges) => ranges.setConfig("JD" as RangeId, config)))
    expect(await run(importLegacy(false))).toMatch(/and 1 machine imported/u)
  })

  it("never shows its secrets", async () => {
    install()
    writeFileSync(join(folder, "users/john-doe/proxmox_password"), "x".repeat(2000))
    const { run } = service()
    const text = await run(importLegacy(false))
    expect(text).toContain("! user JD: the file users/john-doe/proxmox_password was left out: it is larger than 1024 bytes")
    expect(text).not.toContain("xxx")
    expect(text).not.toContain(hash)
  })

  it("with a user ROOT says that ROOT keeps the key of this service", async () => {
    install()
    const database = new DatabaseSync(join(folder, "ludus.db"))
    database.exec(`insert into user_objects values ('root', 'ROOT', null, null, 1, '${hash}', 'root', 0)`)
    database.close()
    const { store, run } = service()
    expect(await run(importLegacy(false))).toContain("ROOT keeps the key of this service, in the file root-api-key")
    expect(store.users.has("ROOT" as UserId)).toBe(false)
  })

  it("that another service imported is left alone until that service's note is removed", async () => {
    install()
    mkdirSync(join(folder, "install"))
    writeFileSync(join(folder, "install/.sqlite_db_migrated"), "")
    const { store, run } = service()
    expect(await run(importLegacy(false))).toMatch(
      /^Nothing to migrate: .*\.sqlite_db_migrated says that another service has imported/u,
    )
    expect(store.users.size).toBe(0)
    rmSync(join(folder, "install/.sqlite_db_migrated"))
    expect(await run(importLegacy(false))).toMatch(/^The migration is complete: 2 users/u)
  })

  it("imported twice changes nothing the second time, and its folder never changes", async () => {
    install()
    const bytes = readFileSync(join(folder, "ludus.db"))
    const files = readdirSync(folder, { recursive: true }).map(String).toSorted()
    const { store, world, run } = service()
    await run(importLegacy(false))
    const state = () =>
      JSON.stringify([
        [...store.users],
        [...store.ranges],
        [...store.configs],
        [...store.grants].map(([id, users]) => [id, [...users]]),
        [...world.vms],
        [...world.accounts].map(([id, { groups }]) => [id, [...groups]]),
        [...world.acl],
      ])
    const before = state()
    const revision = store.revision
    const calls = world.calls.length
    expect((await run(importLegacy(false))).split("\n")[0]).toBe("The migration is complete: there is nothing more to import.")
    expect(state()).toBe(before)
    expect(store.revision).toBe(revision)
    expect(world.calls.slice(calls).filter(({ mutating }) => mutating)).toEqual([])
    expect(readFileSync(join(folder, "ludus.db")).equals(bytes)).toBe(true)
    expect(readdirSync(folder, { recursive: true }).map(String).toSorted()).toEqual(files)
  })

  it("is imported further after an interrupted import", async () => {
    install()
    const { store, run } = service()
    await run(importLegacy(false))
    store.ranges.delete("JD" as never)
    store.grants.delete("JD" as never)
    await run(Users.use((users) => users.remove("AB" as UserId)))
    store.ranges.delete("AB" as never)
    expect(await run(importLegacy(false))).toMatch(
      /^The migration is complete: 1 user, 2 ranges, 1 further grant of access and 0 machines imported\./u,
    )
  })

  it("with a damaged database fails, naming it, and nothing is changed", async () => {
    writeFileSync(join(folder, "ludus.db"), "no database, but long enough to be read as the head of one ".repeat(10))
    const { store, run } = service()
    await expect(run(importLegacy(false))).rejects.toThrow(`Cannot read the older installation in ${folder}`)
    expect(store.users.size).toBe(0)
    await expect(run(LegacyData.use(({ read }) => read))).rejects.toMatchObject({ kind: "unavailable" })
  })
})
