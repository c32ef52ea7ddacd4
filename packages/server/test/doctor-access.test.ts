import { storageLayer } from "@rangewright/adapter-storage"
import {
  makeMemoryStore,
  makeMemoryWorld,
  memoryHypervisorLayer,
  memoryStorageLayer,
  writeEntry,
} from "@rangewright/adapter-memory"
import { Settings } from "@rangewright/application"
import {
  type AccountId,
  groupOfAccount,
  nothingHeld,
  poolRoles,
  type RangeId,
  type RecordId,
  type UserId,
} from "@rangewright/domain"
import { AccessRecords, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { settingsOf } from "../src/compose/settings.ts"
import { withStore } from "../src/command/open-store.ts"
import { loadConfig } from "../src/config/config.ts"
import { checkAccess } from "../src/doctor/access-checks.ts"

const config = loadConfig({ file: undefined, environment: { RANGEWRIGHT_CLUSTER_MODE: "false" } })
const ada = "ada@pve" as AccountId
const bob = "bob@pve" as AccountId
const lab = "LAB" as RangeId

/** A service that has Ada, whose range is LAB, and nothing on the hypervisor. */
const installed = async () => {
  const [store, world] = [makeMemoryStore(), makeMemoryWorld()]
  const layer = Layer.mergeAll(
    memoryStorageLayer(store),
    memoryHypervisorLayer(world),
    Layer.succeed(Settings, { ...settingsOf(config), clusterMode: false }),
  )
  const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof layer>>) => Effect.runPromise(Effect.provide(effect, layer))
  await run(
    Effect.gen(function* () {
      yield* (yield* Users).create({
        id: "Ada" as UserId,
        recordId: "ada000000000000" as RecordId,
        name: "Ada",
        email: "ada@lab.example",
        isAdmin: false,
        hypervisorUsername: "ada",
        hypervisorRealm: "pve",
        secrets: { apiKeyHash: undefined, sealedPassword: undefined, tokenKey: "t" },
        createdAt: new Date(0),
      })
      yield* (yield* Ranges).create({
        id: lab,
        recordId: "lab000000000000" as RecordId,
        number: 7,
        reservedNumbers: [],
        name: "Lab",
        description: "",
        purpose: "",
        config: "ludus: []\n",
        createdBy: undefined,
        owners: ["Ada" as UserId],
        createdAt: new Date(0),
      })
    }),
  )
  /** Puts there what a service would. */
  const bringInLine = () => {
    for (const name of ["ludus_users", "ludus_admins", groupOfAccount(ada)]) world.groups.set(name, { ours: true })
    const groups = new Set(["ludus_users", groupOfAccount(ada)])
    world.accounts.set(ada, { ours: true, password: undefined, groups, passwordObstacle: undefined })
    world.pools.add(lab)
    for (const name of ["ludus_admins", groupOfAccount(ada)])
      for (const role of poolRoles)
        writeEntry(world, { path: "/pool/LAB", role, subject: { type: "group", name }, propagate: true })
  }
  return { world, run, bringInLine, findings: () => run(checkAccess) }
}

describe("the doctor's check of access", () => {
  test("accepts a hypervisor that matches what is stored, and changes nothing", async () => {
    const { world, bringInLine, findings } = await installed()
    bringInLine()
    expect(await findings()).toEqual([
      { level: "ok", what: "access", detail: "everything is as stored (accounts: 1, ranges: 1)" },
    ])
    expect(world.calls.filter(({ mutating }) => mutating)).toEqual([])
  })

  test("names differences, including rights granted outside the service, and how to repair them", async () => {
    const { world, bringInLine, findings } = await installed()
    bringInLine()
    writeEntry(world, {
      path: "/pool/LAB",
      role: "PVEVMAdmin",
      subject: { type: "user", name: "mallory@pve" },
      propagate: true,
    })
    const found = await findings()
    expect(found).toMatchObject([{ level: "warn", what: "access" }])
    expect(found[0]?.detail).toContain("Revoke rights on pool LAB from user mallory@pve")
    expect(found[0]?.hint).toContain("POST /access/reconcile")
    expect(world.calls.filter(({ mutating }) => mutating)).toEqual([])
  })

  test("names rights that others granted to an unknown account, which the service leaves alone", async () => {
    const { world, bringInLine, findings } = await installed()
    bringInLine()
    const subject = { type: "user", name: "mallory@pve" } as const
    writeEntry(world, { path: "/pool/LAB", role: "Administrator", subject, propagate: true })
    const [found, ...more] = await findings()
    expect(found?.detail).toContain("user mallory@pve has Administrator on pool LAB")
    expect(more).toEqual([])
  })

  test("reports a few of many revocations that are still pending on the hypervisor", async () => {
    const { run, bringInLine, findings } = await installed()
    bringInLine()
    const many = Array.from({ length: 7 }, (_, i) => [`gone${i}@pve`, { admin: false, password: "1" }] as const)
    const held = { ...nothingHeld, accounts: { [bob]: { admin: false, password: "1" }, ...Object.fromEntries(many) } }
    await run(AccessRecords.use((records) => records.hold(held, 0)))
    const [first] = await findings()
    expect(first?.detail).toMatch(/^revoked, but not yet on the hypervisor: bob@pve still exists; .*; and 3 more$/u)
  })

  test("says why nothing could be compared", async () => {
    const { world, findings } = await installed()
    world.fault = () => ({ when: "before", reason: "away" })
    expect(await findings()).toMatchObject([{ level: "warn", what: "access", detail: expect.stringContaining("observe") }])
  })
})

describe("opening the store read-only", () => {
  let data: string
  beforeEach(() => void (data = mkdtempSync(join(tmpdir(), "doctor-"))))
  afterEach(() => rmSync(data, { recursive: true }))
  const ask = () =>
    withStore(
      loadConfig({ file: undefined, environment: { RANGEWRIGHT_DATA: data } }),
      AccessRecords.use(({ stored }) => stored),
      { look: true },
    )

  test("reads a database that is up to date, and refuses one that is not instead of changing it", async () => {
    writeFileSync(join(data, "rangewright.db"), "")
    await expect(ask()).rejects.toThrow("it is not up to date")
    await expect(ask()).rejects.toThrow("it is not up to date")
    await Effect.runPromise(Effect.provide(Effect.void, storageLayer({ file: join(data, "rangewright.db") })))
    expect(await ask()).toEqual({ users: [], ranges: [] })
  })
})
