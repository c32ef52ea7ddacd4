import { type Refusal, refusalStep } from "./refusal.ts"
import type { RangeId, Vmid } from "../access/ids.ts"
import { writeDescription } from "../machine/mark.ts"
import { isRouter } from "../machine/router.ts"
import { cardText, type Nic } from "../machine/observed.ts"
import { findSnapshot, isSnapshotOf, type SnapshotTree } from "../machine/snapshot.ts"
import type { MachineSettings } from "./action.ts"
import { type Identified, identify, labelOf, type OwnMachine, unsureHint } from "./identify.ts"
import { bootUse, refOf, storagePlace } from "./machine-steps.ts"
import { doubtNotes } from "./plan-notes.ts"
import type { Change, Plan, ResourceUse, Step } from "./plan.ts"
import { criticalPath } from "./schedule.ts"
import { slots, timing } from "./timing.ts"
import type { PlanWorld } from "./world.ts"

/** The world that snapshots are planned from. */
export interface SnapshotWorld extends PlanWorld {
  /** Of each requested machine that could be read. */
  readonly trees: ReadonlyMap<Vmid, SnapshotTree>
  /** Machines whose disks cannot keep a snapshot. Absent: not looked up, since none is to be taken. */
  readonly incapable?: ReadonlySet<Vmid>
  /**
   * The network cards in the snapshot to roll back to, for each machine whose snapshot has memory. Absent: not looked up, since nothing is
   * rolled back.
   */
  readonly cards?: ReadonlyMap<Vmid, readonly Nic[]>
}

interface Asked {
  readonly range: { readonly id: RangeId }
  readonly world: SnapshotWorld
  readonly vmids: readonly Vmid[]
  readonly name: string
}

export interface TakeInput extends Asked {
  /** Contains the mark of the request (`writeSnapshotText`): a snapshot with exactly this text was made for the same request. */
  readonly description: string
  readonly memory: boolean
  /** All or none: when one cannot be taken, nothing is done. */
  readonly atomic: boolean
}

export interface RollBackInput extends Asked {
  /** All or none: nothing is done when one is refused, and when one fails, those that come after it are left alone. */
  readonly atomic: boolean
  /** True: the range is cut off, and the rules that the router had at that time may be open ones. */
  readonly routerStays?: boolean
}

/** What the plan does to one machine; no steps: it is done already. */
type StepsFor = (able: Able) => readonly Step[]

/** A machine that can be worked on. */
interface Able {
  readonly own: OwnMachine
  readonly tree: SnapshotTree
}

const isRefusal = (found: Able | Refusal): found is Refusal => "because" in found

const identified = (found: Identified, { range, world, name }: Asked, vmid: Vmid): Able | Refusal => {
  const refused = (machine: string | undefined, because: string): Refusal => ({ vmid, machine, because })
  const hidden = found.unreadable.find(({ machine }) => machine.vmid === vmid)
  if (hidden !== undefined)
    return refused(hidden.machine.name, hidden.code === "unsure" ? `${hidden.message}. ${unsureHint}` : hidden.message)
  const own = [...found.own.values()].find(({ observed }) => observed.vmid === vmid)
  const foreign = found.foreign.find(({ machine }) => machine.vmid === vmid)
  if (own === undefined)
    return refused(
      undefined,
      foreign === undefined
        ? `VM ${vmid} is not a machine of range ${range.id}`
        : `${labelOf(foreign.machine)} is in the pool of range ${range.id} but is not ours: ${foreign.why}`,
    )
  const { lock } = own.detail
  const tree = world.trees.get(vmid)
  if (lock !== undefined)
    return refused(
      own.mark.machine,
      `${labelOf(own.observed)} is locked on the hypervisor (${lock}): something else is working on it, or was interrupted. Try again when that has finished; remove a stale lock on its node with: qm unlock ${vmid}`,
    )
  if (tree === undefined) return refused(own.mark.machine, `the snapshots of ${labelOf(own.observed)} cannot be read now`)
  const known = findSnapshot(tree, name)
  if (known?.incomplete === true)
    return refused(
      own.mark.machine,
      `the snapshot ${name} of ${labelOf(own.observed)} is incomplete: its creation or removal was interrupted. Remove it on its node with: qm delsnapshot ${vmid} ${name} --force`,
    )
  return { own, tree }
}

/** How many snapshots are worked on at once on one storage; a storage that all nodes share counts once. */
const storageUse = ({ own }: Able, world: PlanWorld): ResourceUse => ({
  resource: `snapshot@${storagePlace(own, world)}`,
  slots: slots.snapshot,
})

const memorySeconds = ({ own }: Able): number => own.detail.memoryMiB / timing.snapshotMemoryMiB

const base = ({ own }: Able) => ({ machine: own.mark.machine, tag: undefined, after: [] }) as const

const planned = (asked: Asked, refusals: readonly Refusal[], able: readonly Able[], stepsFor: StepsFor, reason: string): Plan => {
  const work = able.map((one) => ({ one, steps: stepsFor(one) }))
  const steps = [...refusals.map(refusalStep), ...work.flatMap((each) => each.steps)]
  return {
    rangeId: asked.range.id,
    steps,
    changes: [
      ...refusals.map(({ vmid, machine, because }): Change => ({
        kind: "keep",
        object: machine ?? `VM ${vmid}`,
        reasons: [because],
      })),
      ...work.map(({ one, steps: own }): Change => ({
        kind: own.length > 0 ? "change" : "none",
        object: one.own.mark.machine,
        reasons: own.length > 0 ? [reason] : [],
      })),
    ],
    placements: [],
    allocations: [],
    notes: doubtNotes(asked.world),
    criticalPathSeconds: criticalPath(steps).seconds,
  }
}

/** Checks everything requested before anything is done to any machine. `check`: any other reason to refuse a machine. */
const checked = (asked: Asked, check: (able: Able) => string | undefined) => {
  const found = identify(asked.range.id, asked.world)
  const refusals: Refusal[] = []
  const able: Able[] = []
  for (const vmid of new Set(asked.vmids)) {
    const one = identified(found, asked, vmid)
    if (isRefusal(one)) {
      refusals.push(one)
      continue
    }
    const because = check(one)
    if (because === undefined) able.push(one)
    else refusals.push({ vmid, machine: one.own.mark.machine, because })
  }
  return { refusals, able }
}

/** When all or none were requested and one is refused, the others are left alone. */
const allOrNone = (refusals: readonly Refusal[], able: readonly Able[], atomic: boolean) => {
  const [first] = refusals
  if (!atomic || first === undefined) return { left: [], able }
  const left = able.map(({ own }): Refusal => ({
    vmid: own.observed.vmid,
    machine: own.mark.machine,
    because: `nothing was done to ${labelOf(own.observed)}, because all or none were requested: ${first.because}`,
  }))
  return { left, able: [] }
}

/** MiB that the state of a VM's devices takes beside its memory in a snapshot, at least. */
const deviceStateMiB = 500

/** Keeps track of free space on storages, machine by machine; returns why a machine's memory does not fit. */
const roomFor = ({ cluster }: PlanWorld) => {
  const left = new Map<string, number>()
  return ({ own: { detail, observed } }: Able): string | undefined => {
    const name = detail.memoryStorage ?? detail.storage
    const storage = cluster.storages.find((one) => one.name === name && (one.node === observed.node || one.shared))
    // unknown free space refuses nothing: the hypervisor itself would refuse
    if (storage === undefined || storage.totalBytes === 0) return undefined
    const key = storage.shared ? storage.name : `${storage.node}/${storage.name}`
    const free = left.get(key) ?? (storage.totalBytes - storage.usedBytes) / 2 ** 20
    const need = detail.memoryMiB + deviceStateMiB
    if (need > free)
      return `the memory of ${labelOf(observed)} takes ${need} MiB, and the storage ${storage.name} has ${Math.max(0, Math.floor(free))} MiB. Free some space, or take the snapshot without memory`
    left.set(key, free - need)
    return undefined
  }
}

/** The state that was read with the snapshots is newer than the cluster's list. */
const isOn = ({ own: { observed }, tree }: Able): boolean =>
  tree.running ?? (observed.power === "running" || observed.power === "paused")

/** Plans one snapshot of each machine, as many at once as their storages allow. */
export const planTakeSnapshots = (input: TakeInput): Plan => {
  const { world, name, description, memory, atomic } = input
  const room = roomFor(world)
  const isThere = ({ tree }: Able): boolean => {
    const known = findSnapshot(tree, name)
    return known !== undefined && isSnapshotOf(known, description)
  }
  const { refusals, able } = checked(input, (one) => {
    const { observed } = one.own
    if (isThere(one)) return undefined
    if (findSnapshot(one.tree, name) !== undefined) return `${labelOf(observed)} has a snapshot ${name} already`
    if (world.incapable?.has(observed.vmid) === true)
      return `${labelOf(observed)} has a disk on a storage that does not support snapshots`
    return memory && isOn(one) ? room(one) : undefined
  })
  const { left, able: taken } = allOrNone(refusals, able, atomic)
  const take: StepsFor = (one) =>
    isThere(one)
      ? []
      : [
          {
            ...base(one),
            key: `take-snapshot:${one.own.mark.machine}`,
            title: `Take snapshot ${name} of ${one.own.mark.machine}`,
            action: {
              kind: "take-snapshot",
              machine: refOf(one.own),
              snapshot: { name, description, memory: memory && isOn(one) },
            },
            uses: [storageUse(one, world)],
            estimate: timing.snapshot + (memory && isOn(one) ? memorySeconds(one) : 0),
            ...(atomic ? {} : { tolerated: true }),
          },
        ]
  return planned(input, [...refusals, ...left], taken, take, `snapshot ${name}`)
}

/** Plans the removal of the snapshot with this name from each machine. */
export const planRemoveSnapshots = (input: Asked): Plan => {
  const { refusals, able } = checked(input, lacks(input.name))
  const remove: StepsFor = (one) => [
    {
      ...base(one),
      key: `remove-snapshot:${one.own.mark.machine}`,
      title: `Remove snapshot ${input.name} of ${one.own.mark.machine}`,
      action: {
        kind: "remove-snapshot",
        machine: refOf(one.own),
        snapshot: input.name,
        takenAt: findSnapshot(one.tree, input.name)?.takenAt,
      },
      uses: [storageUse(one, input.world)],
      estimate: timing.snapshot,
      tolerated: true,
    },
  ]
  return planned(input, refusals, able, remove, `without snapshot ${input.name}`)
}

const lacks =
  (name: string) =>
  ({ own, tree }: Able): string | undefined =>
    findSnapshot(tree, name) === undefined ? `${labelOf(own.observed)} has no snapshot ${name}` : undefined

/**
 * With memory, the hypervisor itself starts the machine with the network cards of the snapshot, before anybody can change them: a machine
 * that is connected differently by now would run where it must not be.
 */
const startsElsewhere =
  (name: string, { cards }: SnapshotWorld) =>
  ({ own: { detail, observed, owed }, tree }: Able): string | undefined => {
    if (cards === undefined || findSnapshot(tree, name)?.memory !== true) return undefined
    const then = cards.get(observed.vmid)
    if (then === undefined) return `the snapshot ${name} of ${labelOf(observed)} cannot be read now`
    const now = new Set((owed ?? detail).nics.map(cardText))
    const others = then.map(cardText).filter((plug) => !now.has(plug))
    return others.length === 0
      ? undefined
      : `the snapshot ${name} of ${labelOf(observed)} includes memory, so the hypervisor would start it with the network cards of that time (${others.join("; ")}), but it now has others (${[...now].join("; ") || "none"}). Roll back to a snapshot without memory, or first connect the machine as it was then`
  }

/** The settings that the machine has before its rollback: it keeps them, whatever the snapshot had. */
const settingsNow = ({ own: { detail, mark, groups, owed } }: Able): MachineSettings =>
  owed ?? {
    cpus: detail.cpus,
    memoryMiB: detail.memoryMiB,
    balloonMiB: detail.balloonMiB,
    nics: detail.nics,
    description: writeDescription(mark, groups),
    tags: detail.tags,
    tablet: detail.tablet ?? true,
    ...(detail.hardware === undefined ? {} : { hardware: detail.hardware }),
  }

/**
 * Plans to roll each machine back to its snapshot with this name. A snapshot also brings back the hardware of that time: a card on a
 * network that is gone, another number of processors. So the step that rolls a machine back also sets it to what it has now, and an abort
 * cannot come between the two. A machine that ran runs afterwards, even if it cannot be rolled back, and so does one whose snapshot has
 * memory. The router comes last: until then it lets through what it does now.
 */
export const planRollBack = (input: RollBackInput): Plan => {
  const { world, name, range, atomic } = input
  const elsewhere = startsElsewhere(name, world)
  const isRouterOf = ({ own }: Able): boolean => isRouter(own.observed, range.id)
  const stays = (one: Able): string | undefined =>
    input.routerStays === true && isRouterOf(one)
      ? `${labelOf(one.own.observed)} is the router, and testing is on: its old rules may let the range out. Stop testing first`
      : undefined
  const { refusals, able: all } = checked(input, (one) => lacks(name)(one) ?? stays(one) ?? elsewhere(one))
  const { left, able } = allOrNone(refusals, all, atomic)
  const keyOf = ({ own }: Able): string => `roll-back:${own.mark.machine}`
  const others = able.filter((one) => !isRouterOf(one)).map(keyOf)
  const inTurn = [...others, ...able.filter(isRouterOf).map(keyOf)]
  /** One after another, so that no later machine has begun when one fails. */
  const before = (key: string): readonly string[] => (atomic ? inTurn.slice(0, inTurn.indexOf(key)).slice(-1) : [])
  const rollBack: StepsFor = (one) => {
    const { own } = one
    const { machine } = own.mark
    const snapshot = findSnapshot(one.tree, name)
    const hasMemory = snapshot?.memory === true
    return [
      {
        ...base(one),
        key: keyOf(one),
        after: before(keyOf(one)),
        title: `Roll ${machine} back to snapshot ${name}`,
        action: {
          kind: "roll-back",
          machine: refOf(own),
          snapshot: name,
          takenAt: snapshot?.takenAt,
          generation: own.detail.generation,
          digest: own.detail.digest,
          settings: settingsNow(one),
          ...(isOn(one) ? { wasOn: true } : {}),
        },
        ...(!atomic && isRouterOf(one) && others.length > 0 ? { behind: others } : {}),
        uses: [storageUse(one, world)],
        estimate: timing.snapshot + timing.configure + (hasMemory ? memorySeconds(one) : 0),
      },
      ...(isOn(one) || hasMemory
        ? [
            {
              ...base(one),
              key: `start:${machine}`,
              title: `Start ${machine}`,
              action: { kind: "start", machine: refOf(own), untilAgent: false } as const,
              after: [keyOf(one)],
              uses: [bootUse(own.observed.node)],
              estimate: timing.startOnly,
            },
          ]
        : []),
    ]
  }
  return planned(input, [...refusals, ...left], able, rollBack, `rolled back to snapshot ${name}`)
}
