import {
  type Installation,
  type MigrationOptions,
  type MigrationRecord,
  planMigration,
  planReturn,
  type RangeId,
} from "@rangewright/domain"
import { Hypervisor, HypervisorAccess, NetworkMigration, type NetworkMigrationAction } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { bridgeOf, networkAction, networkNamed, performOn } from "./network.contract.ts"
import {
  cloneOf,
  configureOf,
  type HypervisorUnderTest,
  onWorld,
  rangeId,
  reasonOf,
  refOf,
  type World,
} from "./support/under-test.ts"

const options: MigrationOptions = {
  clusterMode: true,
  zone: "ludus",
  vxlanTagBase: 0,
  natBridge: "vmbr1000",
  natVnet: "ludusnat",
  natGroups: ["ludus_users"],
  createZone: true,
}

const observe = Effect.map(
  NetworkMigration.use((migration) => migration.observe({ zone: "ludus", snapshots: true })),
  (seen): Installation => ({
    ...seen,
    ranges: [{ id: rangeId as RangeId, number: 1, groups: ["ludus_admins"] }],
    record: undefined,
  }),
)

const perform = (action: NetworkMigrationAction) =>
  NetworkMigration.use((migration) => Effect.flatMap(migration.dispatch(action), ({ token }) => migration.settle(action, token)))

/** A machine of range LAB1 on the range's bridge. */
const populate = (world: World) => {
  const ref = refOf(world)
  return Effect.gen(function* () {
    yield* performOn(networkAction("create-network", bridgeOf(world)))
    yield* HypervisorAccess.use((access) => access.ensurePool(rangeId))
    const hypervisor = yield* Hypervisor
    const configure = configureOf(ref)
    const nics = configure.settings.nics.map((nic) => ({ ...nic, bridge: "vmbr1001" }))
    for (const action of [cloneOf(world, ref), { ...configure, settings: { ...configure.settings, nics } }]) {
      const { token } = yield* hypervisor.dispatch(action)
      yield* hypervisor.settle(action, token)
    }
    return ref
  })
}

const worldly = (installation: Installation): readonly NetworkMigrationAction[] => actionsOf(planMigration(installation, options))
const actionsOf = ({ steps }: Pick<ReturnType<typeof planMigration>, "steps">): readonly NetworkMigrationAction[] =>
  steps.flatMap(({ action }) => (action.kind === "save-record" || action.kind === "drop-record" ? [] : [action]))
const recordOf = (installation: Installation): MigrationRecord | undefined =>
  planMigration(installation, options).steps.flatMap(({ action }) => (action.kind === "save-record" ? [action.record] : []))[0]

/** The tests that every adapter of the port that moves networks passes. */
export const migrationContract = (hypervisor: HypervisorUnderTest): void => {
  describe(`${hypervisor.name}: moving networks`, () => {
    const promises = (title: string, body: (world: World) => Promise<void>) => it(title, onWorld(hypervisor, body))

    promises("carries a plan out, so that the next one has nothing to do", async (world) => {
      const ref = await world.run(populate(world))
      const before = await world.run(Hypervisor.use((h) => h.detail(ref.node, ref.vmid)))
      await world.run(Effect.forEach(worldly(await world.run(observe)), perform, { discard: true }))
      expect(planMigration(await world.run(observe), options)).toMatchObject({ idle: "done", blockers: [] })
      const after = await world.run(Hypervisor.use((h) => h.detail(ref.node, ref.vmid)))
      expect(after.nics).toEqual(before.nics.map((nic) => ({ ...nic, bridge: "r1" })))
      expect(await world.run(networkNamed("r1"))).toMatchObject({ usable: true, ours: true })
      expect(await world.run(networkNamed("vmbr1001"))).toBeUndefined()
    })

    promises("accepts every action again, from a process that remembers nothing", async (world) => {
      await world.run(populate(world))
      const actions = worldly(await world.run(observe))
      for (const action of actions) {
        await world.run(perform(action))
        await world.restarted().run(perform(action))
      }
      expect(planMigration(await world.run(observe), options)).toMatchObject({ idle: "done" })
    })

    promises("an action settles for a process that did not dispatch it", async (world) => {
      await world.run(populate(world))
      for (const action of worldly(await world.run(observe))) {
        const { token } = await world.run(NetworkMigration.use((migration) => migration.dispatch(action)))
        await world.restarted().run(NetworkMigration.use((migration) => migration.settle(action, token)))
      }
      expect(planMigration(await world.run(observe), options)).toMatchObject({ idle: "done" })
    })

    promises("brings everything back", async (world) => {
      const ref = await world.run(populate(world))
      const before = await world.run(observe)
      await world.run(Effect.forEach(worldly(before), perform, { discard: true }))
      const record = recordOf(before)
      const back = planReturn({ ...(await world.run(observe)), record }, options)
      expect(back.blockers).toEqual([])
      await world.run(Effect.forEach(actionsOf(back), perform, { discard: true }))
      const nicsOf = ({ machines }: Installation) => machines.find(({ vmid }) => vmid === ref.vmid)?.nics
      const after = await world.run(observe)
      expect(nicsOf(after)).toEqual(nicsOf(before))
      expect(after.vnets).toEqual([])
      expect(await world.run(networkNamed("vmbr1001"))).toMatchObject({ usable: true })
    })

    promises("leaves a machine alone if it is not the planned one", async (world) => {
      const ref = await world.run(populate(world))
      const actions = worldly(await world.run(observe))
      for (const action of actions.filter(
        ({ kind }) => kind !== "move-nics" && kind !== "remove-bridge" && kind !== "reload-network",
      ))
        if (action.kind !== "verify-machines") await world.run(perform(action))
      const move = actions.find((action) => action.kind === "move-nics")
      if (move?.kind !== "move-nics") throw new Error("nothing moves")
      const other = { ...move, guard: { type: "mark" as const, mark: { ...ref.mark, machine: "LAB1-other" } } }
      expect(await world.run(reasonOf(perform(other)))).toBe("not-ours")
      const { nics } = await world.run(Hypervisor.use((h) => h.detail(ref.node, ref.vmid)))
      expect(nics.map(({ bridge }) => bridge)).not.toContain("r1")
    })

    promises("a cached observation shows what a new one shows, even right after a change", async (world) => {
      await world.run(populate(world))
      const seen = Effect.gen(function* () {
        const { record: _, ranges: __, ...look } = yield* observe
        const observeCached = yield* NetworkMigration.use((migration) => migration.observeCached("ludus"))
        return { look: { ...look, machines: look.machines.map((machine) => ({ ...machine, snapshots: [] })) }, observeCached }
      })
      const actions = worldly(await world.run(observe))
      await world.run(
        Effect.forEach(actions, (action) =>
          Effect.gen(function* () {
            yield* perform(action)
            const { look, observeCached } = yield* seen
            expect(observeCached).toEqual(look)
          }),
        ),
      )
    })

    promises("a missing machine has nothing to move, which is reported", async (world) => {
      const ref = await world.run(populate(world))
      const move = worldly(await world.run(observe)).find(({ kind }) => kind === "move-nics")!
      await world.remove(ref.vmid)
      const told = await world.run(NetworkMigration.use((migration) => migration.dispatch(move)))
      expect(told).toMatchObject({ gone: true })
    })

    promises("never removes a zone that somebody has changed", async (world) => {
      const zone = { name: "ludus", peers: ["10.0.0.1"], mtu: 1450 }
      await world.run(perform({ kind: "create-zone", zone }))
      const removal = (peers: readonly string[]) => ({ kind: "remove-zone" as const, zone: "ludus", peers })
      expect(await world.run(reasonOf(perform(removal(["10.0.0.9"]))))).toBe("not-ours")
      await world.run(perform(removal(zone.peers)))
      expect((await world.run(observe)).zones.filter(({ state }) => state !== "deleted")).toEqual([])
    })

    promises("never takes over or removes a foreign VNet", async (world) => {
      const [create, apply] = [
        { kind: "create-zone" as const, zone: { name: "ludus", peers: ["10.0.0.1"], mtu: 1450 } },
        { kind: "apply-sdn" as const, zone: "ludus", present: [], absent: [] },
      ]
      const theirs = { name: "r1", zone: "ludus", tag: 77, alias: "rangewright OTHER" }
      for (const action of [create, { kind: "create-vnet" as const, vnet: theirs }, apply]) await world.run(perform(action))
      const ours = { kind: "create-vnet" as const, vnet: { ...theirs, tag: 1, alias: "rangewright LAB1" } }
      expect(await world.run(reasonOf(perform(ours)))).toBe("not-ours")
      const removal = { kind: "remove-vnet" as const, vnet: "r1", zone: "ludus", alias: "rangewright LAB1" }
      expect(await world.run(reasonOf(perform(removal)))).toBe("not-ours")
      expect((await world.run(observe)).vnets).toMatchObject([{ name: "r1", tag: 77, alias: "rangewright OTHER" }])
    })
  })
}
