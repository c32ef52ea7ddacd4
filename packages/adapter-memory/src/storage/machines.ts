import { allocateVmids, Exhausted, isRouter, isToldSince, type RangeId, RangeNotFound, type Vmid } from "@rangewright/domain"
import { isReadBefore, type KeptLogin, Machines, type RangeMachine, type SnapshotRef } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { writesTo } from "./atomically.ts"
import type { MemoryStore, StoredMachine } from "./memory-store.ts"

/** The machine as a VM of its range; undefined for templates and machines outside ranges' pools. */
const ofItsRange = (store: MemoryStore, stored: StoredMachine | undefined): RangeMachine | undefined => {
  if (stored === undefined || stored.machine.template) return undefined
  const { machine, address, foreignAddresses = [], missingSince, activation } = stored
  const foreign = foreignAddresses.length === 0 ? {} : { foreignAddresses }
  const missing = missingSince === undefined ? {} : { missingSince }
  const licence = activation === undefined ? {} : { activation }
  const rangeId = machine.pool as RangeId
  return store.ranges.has(rangeId)
    ? { ...machine, rangeId, address, ...foreign, ...missing, ...licence, isRouter: isRouter(machine, rangeId) }
    : undefined
}

const snapshotKey = ({ name, takenAt }: SnapshotRef): string => `${name} ${takenAt}`

export const machinesOf = (store: MemoryStore, rangeId: RangeId): readonly RangeMachine[] =>
  [...store.machines.values()]
    .flatMap((stored) => ofItsRange(store, stored) ?? [])
    .filter((machine) => machine.rangeId === rangeId)
    .sort((a, b) => a.vmid - b.vmid)

/** Belongs to a range, or has stages that ran inside it. */
const isOurs = (store: MemoryStore, { machine }: StoredMachine): boolean =>
  store.ranges.has(machine.pool as RangeId) || [...store.stages.values()].some((stages) => stages.has(machine.vmid))

const dropStages = (store: MemoryStore, gone: (vmid: Vmid) => boolean): void => {
  for (const stages of store.stages.values()) for (const vmid of stages.keys()) if (gone(vmid)) stages.delete(vmid)
}

export const machinesLayer = (store: MemoryStore): Layer.Layer<Machines> => {
  const { atomically, change } = writesTo(store)
  const reservedOf = (rangeId: RangeId) => new Map(store.reservations.get(rangeId))
  const knownRange = (rangeId: RangeId) => (store.ranges.has(rangeId) ? Result.void : Result.fail(new RangeNotFound({ rangeId })))
  const shown = () =>
    [...store.machines.values()]
      .flatMap(({ machine, missingSince }) => (missingSince === undefined ? [machine] : []))
      .sort((a, b) => a.vmid - b.vmid)
  const allocate = (
    machines: readonly string[],
    taken: ReadonlySet<number>,
    span: { readonly from: number; readonly to: number },
  ) => {
    const reserved = new Set([...store.reservations.values()].flatMap((of) => [...of.values()]))
    return allocateVmids(machines, span, { has: (n) => taken.has(n) || reserved.has(n as Vmid) })
  }

  return Layer.succeed(Machines, {
    replace: (cluster) =>
      change(() => {
        const at = cluster.at.getTime()
        const told = new Map([...store.machines].filter(([, stored]) => isToldSince(stored.recordedAt, at)))
        const seen = new Set(cluster.machines.map(({ vmid }) => vmid))
        const missing = [...store.machines].filter(([vmid, stored]) => !seen.has(vmid) && isOurs(store, stored))
        for (const [vmid, when] of store.gone) if (!isToldSince(when, at)) store.gone.delete(vmid)
        const kept = new Map(store.machines)
        store.machines.clear()
        for (const machine of cluster.machines) {
          if (store.gone.has(machine.vmid)) continue
          const before = kept.get(machine.vmid)
          const name = machine.name ?? before?.machine.name
          const { address, foreignAddresses, activation } = before ?? { address: undefined }
          store.machines.set(machine.vmid, {
            machine: { ...machine, name },
            address,
            foreignAddresses,
            activation,
            recordedAt: 0,
          })
        }
        for (const [vmid, stored] of missing)
          store.machines.set(vmid, { ...stored, missingSince: stored.missingSince ?? cluster.at })
        for (const [vmid, stored] of told) store.machines.set(vmid, stored)
        store.observed = { at: cluster.at, nodes: cluster.nodes, storages: cluster.storages }
        store.away = undefined
        store.revision++
      }),
    missing: Effect.sync(() =>
      [...store.machines.values()]
        .flatMap(({ machine, missingSince }) => (missingSince === undefined ? [] : [{ ...machine, since: missingSince }]))
        .sort((a, b) => a.vmid - b.vmid),
    ),
    doubt: (at, reason) =>
      change(() => {
        store.doubt = reason === undefined ? undefined : { since: store.doubt?.since ?? at, reason }
        store.revision++
      }),
    cluster: Effect.sync(() => {
      if (store.observed === undefined) return undefined
      return { ...store.observed, machineCount: shown().length }
    }),
    templates: Effect.sync(() => shown().filter(({ template }) => template)),
    record: (sighting) =>
      atomically(function* (now) {
        const { address, foreignAddresses, ...seen } = sighting
        const before = store.machines.get(seen.vmid)
        const machine = { ...seen, name: seen.name ?? before?.machine.name }
        const recordedAt = now.getTime()
        store.machines.set(machine.vmid, {
          machine,
          address: address ?? before?.address,
          foreignAddresses: foreignAddresses ?? before?.foreignAddresses,
          activation: before?.activation,
          recordedAt,
        })
        store.gone.delete(machine.vmid)
        store.revision++
      }),
    reported: (vmid, { address, foreignAddresses }) =>
      change(() => {
        const known = store.machines.get(vmid)
        if (known === undefined) return
        store.machines.set(vmid, { ...known, address, foreignAddresses })
        store.revision++
      }),
    forget: (vmid) =>
      atomically(function* (now) {
        const { logins, systems, owed, snapshots, snapshotStages } = store
        for (const kept of [logins, systems, owed, snapshots, snapshotStages]) for (const own of kept.values()) own.delete(vmid)
        store.gone.set(vmid, now.getTime())
        dropStages(store, (other) => other === vmid)
        if (store.machines.delete(vmid)) store.revision++
      }),
    ofRange: (rangeId) => Effect.sync(() => machinesOf(store, rangeId)),
    find: (vmid) => Effect.sync(() => ofItsRange(store, store.machines.get(vmid))),
    away: (since, reason) =>
      change(() => {
        store.away = { awaySince: store.away?.awaySince ?? since, awayReason: reason }
        store.revision++
      }),
    freshness: Effect.sync(() => ({
      observedAt: store.observed?.at,
      awaySince: store.away?.awaySince,
      awayReason: store.away?.awayReason,
      ...(store.doubt === undefined ? {} : { doubt: store.doubt }),
    })),
    reserve: (rangeId, machines, taken, span) =>
      atomically(function* () {
        yield* knownRange(rangeId)
        const reserved = reservedOf(rangeId)
        const fresh = yield* allocate(
          machines.filter((machine) => !reserved.has(machine)),
          taken,
          span,
        )
        for (const [machine, vmid] of fresh) reserved.set(machine, vmid)
        store.reservations.set(rangeId, reserved)
        return new Map([...reserved].filter(([machine]) => machines.includes(machine)))
      }),
    replaceReservation: (rangeId, machine, taken, span) =>
      atomically(function* () {
        yield* knownRange(rangeId)
        const fresh = yield* allocate([machine], taken, span)
        const vmid = fresh.get(machine)
        if (vmid === undefined) return yield* Result.fail(new Exhausted({ what: `Cannot reserve a VMID for ${machine}` }))
        store.reservations.set(rangeId, reservedOf(rangeId).set(machine, vmid))
        return vmid
      }),
    release: (rangeId, machines) =>
      change(() => {
        const reserved = reservedOf(rangeId)
        for (const machine of machines) reserved.delete(machine)
        store.reservations.set(rangeId, reserved)
      }),
    reservations: (rangeId) => Effect.sync(() => reservedOf(rangeId)),
    stages: (rangeId) =>
      Effect.sync(() => new Map([...(store.stages.get(rangeId) ?? [])].map(([vmid, stages]) => [vmid, new Map(stages)]))),
    systems: (rangeId) => Effect.sync(() => new Map(store.systems.get(rangeId))),
    keepSystem: (rangeId, vmid, system) =>
      change(() => {
        if (!store.ranges.has(rangeId)) return
        store.systems.set(rangeId, new Map(store.systems.get(rangeId)).set(vmid, { ...system }))
      }),
    keepActivation: (rangeId, vmid, activation) =>
      change(() => {
        const known = store.machines.get(vmid)
        if (known === undefined || known.machine.pool !== rangeId) return
        store.machines.set(vmid, { ...known, activation })
        store.revision++
      }),
    logins: (rangeId) => Effect.sync(() => new Map(store.logins.get(rangeId))),
    keepLogin: (rangeId, vmid, login) =>
      change(() => {
        if (!store.ranges.has(rangeId)) return
        const ofRange = store.logins.get(rangeId) ?? new Map<Vmid, KeptLogin>()
        if (login.current === undefined && login.pending === undefined) ofRange.delete(vmid)
        else ofRange.set(vmid, { ...login })
        store.logins.set(rangeId, ofRange)
      }),
    owed: (rangeId) => Effect.sync(() => new Map(store.owed.get(rangeId))),
    owe: (rangeId, vmid, owed) =>
      change(() => {
        if (!store.ranges.has(rangeId)) return
        const ofRange = new Map(store.owed.get(rangeId))
        if (owed === undefined) ofRange.delete(vmid)
        else ofRange.set(vmid, owed)
        store.owed.set(rangeId, ofRange)
      }),
    snapshots: (rangeId) => Effect.sync(() => new Map(store.snapshots.get(rangeId))),
    keepSnapshots: (rangeId, vmid, { readAt, snapshots, current }) =>
      change(() => {
        if (!store.ranges.has(rangeId)) return
        if (isReadBefore(readAt, store.snapshots.get(rangeId)?.get(vmid)?.readAt)) return
        store.snapshots.set(rangeId, new Map(store.snapshots.get(rangeId)).set(vmid, { readAt, snapshots, current }))
        const there = new Set(snapshots.map(snapshotKey))
        const stages = store.snapshotStages.get(rangeId)?.get(vmid)
        for (const key of stages?.keys() ?? []) if (!there.has(key)) stages?.delete(key)
      }),
    keepStages: (rangeId, vmid, snapshot) =>
      change(() => {
        if (!store.ranges.has(rangeId)) return
        const ofRange = store.snapshotStages.get(rangeId) ?? new Map<Vmid, Map<string, ReadonlyMap<string, string>>>()
        const now = new Map(store.stages.get(rangeId)?.get(vmid))
        ofRange.set(vmid, new Map(ofRange.get(vmid)).set(snapshotKey(snapshot), now))
        store.snapshotStages.set(rangeId, ofRange)
      }),
    recallStages: (rangeId, vmid, snapshot) =>
      change(() => {
        const kept = store.snapshotStages.get(rangeId)?.get(vmid)?.get(snapshotKey(snapshot))
        const ofRange = store.stages.get(rangeId)
        if (kept === undefined || kept.size === 0) ofRange?.delete(vmid)
        else store.stages.set(rangeId, new Map(ofRange).set(vmid, new Map(kept)))
      }),
    recordStage: (rangeId, vmid, stepKey, fingerprint) =>
      change(() => {
        if (!store.ranges.has(rangeId)) return
        const ofRange = store.stages.get(rangeId) ?? new Map<Vmid, Map<string, string>>()
        ofRange.set(vmid, new Map(ofRange.get(vmid)).set(stepKey, fingerprint))
        store.stages.set(rangeId, ofRange)
      }),
  })
}
