import { cryptoLayer } from "@rangewright/adapter-crypto"
import {
  addTemplate,
  makeMemoryNames,
  makeMemoryStore,
  makeMemoryWorld,
  memoryHypervisorLayer,
  memoryNamesLayer,
  type MemoryStore,
  memoryStorageLayer,
  type MemoryWorld,
  mayUsePool,
} from "@rangewright/adapter-memory"
import {
  accessControlLayer,
  accessRun,
  importLegacy,
  rangeEngineLayer,
  runPlannerLayer,
  Settings,
} from "@rangewright/application"
import { RunEngine } from "@rangewright/run-engine"
import type { LegacyInstallation, LegacyUser, RangeId, Vmid } from "@rangewright/domain"
import {
  Hypervisor,
  HypervisorAccess,
  HypervisorFault,
  Machines,
  Ranges,
  SecretStore,
  StorageFault,
  Users,
} from "@rangewright/ports"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as References from "effect/References"
import { describe, expect, it } from "vitest"
import { labSettings } from "../runs/support/lab.ts"
import { makeVirtualClock } from "../runs/support/virtual-clock.ts"

const user = (id: string): LegacyUser => ({
  id,
  name: `User ${id}`,
  isAdmin: id === "AA",
  apiKeyHash: `$2a$04$${id.repeat(27).slice(0, 53)}`,
  hypervisorUsername: id.toLowerCase(),
  createdAt: new Date(1_700_000_000_000),
  password: `password of ${id}`,
  config: `ludus:\n  - {vm_name: "${id}-web", hostname: web, template: t, vlan: 10, ip_last_octet: 11, ram_gb: 4, cpus: 2, linux: true}\n`,
  unread: [],
})
const ids = ["AA", "BB", "CC"]

const legacy: LegacyInstallation = {
  users: ids.map(user),
  ranges: ids.map((userId, i) => ({
    userId,
    number: i + 2,
    state: "SUCCESS",
    testing: { enabled: true, domains: ["a.example"], addresses: [] },
    lastDeploymentAt: new Date(1_700_000_001_000),
  })),
  machines: ids.map((id, i) => ({
    vmid: 200 + i,
    rangeNumber: i + 2,
    name: `${id}-web`,
    poweredOn: true,
    address: `10.${i + 2}.10.11`,
  })),
  access: [{ targetUserId: "AA", sourceUserIds: ["BB", "CC"] }],
  takenOver: undefined,
  unread: [],
}

/** What happens to one call of a port. */
type Accident = "dies" | "fails"

/** A service into which nothing was imported yet. `accident` happens before the n-th call of its ports, counted from 1. */
const fresh = (accident?: { readonly kind: Accident; readonly nth: number }) => {
  const store = makeMemoryStore()
  store.legacy = legacy
  const world = makeMemoryWorld()
  const clock = makeVirtualClock()
  for (const [i, id] of ids.entries()) {
    world.pools.add(id as RangeId)
    const vm = addTemplate(world, 200 + i, `${id}-web`)
    world.vms.set(vm.vmid, { ...vm, template: false, pool: id, power: "running", description: '{"groups": ["g",]}' })
  }
  let calls = 0
  const before = (fault: () => StorageFault | HypervisorFault) =>
    Effect.suspend((): Effect.Effect<void, StorageFault | HypervisorFault> => {
      calls += 1
      if (calls !== accident?.nth) return Effect.void
      return accident.kind === "dies" ? Effect.die(new Error("the power went off")) : Effect.fail(fault())
    })
  /** The same port with every call counted, and one failing. */
  const counted = <I, S extends object>(port: Context.Key<I, S>, fault: () => StorageFault | HypervisorFault) =>
    Layer.effect(
      port,
      Effect.map(
        Effect.service(port),
        (service) =>
          new Proxy(service, {
            get: (target, key): unknown => {
              const member: unknown = Reflect.get(target, key)
              if (typeof member === "function")
                return (...args: readonly unknown[]) =>
                  Effect.andThen(before(fault), Reflect.apply(member, target, args) as Effect.Effect<unknown>)
              return Effect.isEffect(member) ? Effect.andThen(before(fault), member) : member
            },
          }),
      ),
    )
  const storageFault = () => new StorageFault({ doing: "use the store", because: "it was told to fail" })
  const hypervisorFault = () => new HypervisorFault({ doing: "use it", reason: "failed", detail: "it was told to fail" })
  const plain = Layer.mergeAll(
    memoryStorageLayer(store),
    memoryHypervisorLayer(world),
    cryptoLayer({ bytes: new Uint8Array(32) }),
    Layer.succeed(Settings, labSettings),
    memoryNamesLayer(makeMemoryNames()),
    Layer.succeed(Clock.Clock, clock),
    Layer.succeed(References.MinimumLogLevel, "None"),
  )
  const ports = Layer.mergeAll(
    counted(Users, storageFault),
    counted(Ranges, storageFault),
    counted(Machines, storageFault),
    counted(Hypervisor, hypervisorFault),
    counted(HypervisorAccess, hypervisorFault),
  ).pipe(Layer.provideMerge(plain))
  const layer = rangeEngineLayer({ owner: "service" }, [accessRun]).pipe(
    Layer.provideMerge(Layer.merge(runPlannerLayer, accessControlLayer)),
    Layer.provideMerge(ports),
  )
  return {
    store,
    world,
    calls: () => calls,
    /** Runs in a process of its own, which first continues what an earlier one left. */
    run: <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof layer>>) =>
      Effect.runPromise(
        Effect.provide(
          Effect.flatMap(RunEngine, ({ recover }) => Effect.andThen(recover, effect)),
          layer,
          { local: true },
        ),
      ),
  }
}

const inOrder = <K, V>(all: ReadonlyMap<K, V>): readonly (readonly [K, V])[] =>
  [...all].toSorted(([a], [b]) => (String(a) < String(b) ? -1 : 1))

/** Everything that an import makes, except for random values and the time of the import. */
const outcome = async (store: MemoryStore, world: MemoryWorld) => ({
  users: await Promise.all(
    inOrder(store.users).map(async ([, { user: one, secrets }]) => ({
      ...one,
      recordId: "",
      updatedAt: 0,
      apiKeyHash: secrets.apiKeyHash,
      password: await Effect.runPromise(
        SecretStore.use((kept) => kept.open(secrets.sealedPassword ?? "", `password of ${one.id}`)).pipe(
          Effect.provide(cryptoLayer({ bytes: new Uint8Array(32) })),
        ),
      ),
    })),
  ),
  ranges: inOrder(store.ranges).map(([, range]) => ({ ...range, recordId: "", createdAt: 0, updatedAt: 0 })),
  configs: inOrder(store.configs).map(([id, { text }]) => [id, text]),
  grants: inOrder(store.grants).map(([id, users]) => [id, [...users].toSorted()]),
  rights: ids.map((id) => [id, mayUsePool(world, id)]),
  accounts: inOrder(world.accounts).map(([id, { groups, password }]) => [id, [...groups].toSorted(), password]),
  vms: inOrder(world.vms).map(([vmid, { description }]) => [vmid, description]),
  shown: inOrder(store.machines).map(([vmid, { address }]) => [vmid, address]),
})

describe("importing an older installation", () => {
  it.each(["dies", "fails"] as const)("ends the same, whichever call of a port %s, once it is repeated", async (kind) => {
    const whole = fresh()
    await whole.run(importLegacy(false))
    const wanted = await outcome(whole.store, whole.world)
    expect(wanted.ranges.map(({ id, state, takenOver }) => [id, state, takenOver])).toEqual(
      ids.map((id) => [id, "SUCCESS", true]),
    )
    expect(wanted.rights).toContainEqual(["AA", ["aa@pam", "bb@pam", "cc@pam"]])
    expect(wanted.vms.every(([, description]) => String(description).includes('"adopted":true'))).toBe(true)
    expect(whole.calls()).toBeGreaterThan(40)
    for (let nth = 1; nth <= whole.calls(); nth += 1) {
      const cut = fresh({ kind, nth })
      // the result of the interrupted import does not matter
      await cut.run(importLegacy(false)).catch(() => undefined)
      expect(cut.calls()).toBeGreaterThanOrEqual(nth)
      await cut.run(importLegacy(false))
      expect(await outcome(cut.store, cut.world), `${kind} at call ${nth}`).toEqual(wanted)
    }
  })

  it("twice at the same time ends the same as once", async () => {
    const once = fresh()
    await once.run(importLegacy(false))
    const both = fresh()
    await both.run(Effect.all([importLegacy(false), importLegacy(false)], { concurrency: "unbounded" }))
    expect(await outcome(both.store, both.world)).toEqual(await outcome(once.store, once.world))
    expect(both.world.vms.get(200 as Vmid)?.description).toContain("AA-web")
  })
})
