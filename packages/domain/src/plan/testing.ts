import * as Result from "effect/Result"
import type { RangeId, Vmid } from "../access/ids.ts"
import { cardText } from "../machine/observed.ts"
import { isRouter } from "../machine/router.ts"
import { findSnapshot, type SnapshotTree, testingSnapshot, testingStandIn } from "../machine/snapshot.ts"
import { testingWarnings } from "../network/testing-warnings.ts"
import { type RangeConfig, renderName } from "../range/config/index.ts"
import { noTesting, type TestingMode, type TestingState } from "../range/range.ts"
import { identify, labelOf, type OwnMachine } from "./identify.ts"
import type { PlanIssue } from "./issue.ts"
import type { Plan, Step } from "./plan.ts"
import { criticalPath } from "./schedule.ts"
import { planRemoveSnapshots, planRollBack, planTakeSnapshots, type SnapshotWorld } from "./snapshots.ts"
import { hardwareAddresses } from "./stage-inputs.ts"
import { timing } from "./timing.ts"
import type { PlanWorld } from "./world.ts"

interface TestedRange {
  readonly id: RangeId
  readonly testing: TestingState
}

interface TestingInput {
  readonly range: TestedRange
  readonly config: RangeConfig
  /** Includes the snapshots of `machinesInTesting`. */
  readonly world: SnapshotWorld
  /** The plan that loads the rules and names of the wanted state on the router (`planDeploy`). */
  readonly router: Plan
}

export interface StartTestingInput extends TestingInput {
  /** Contains the mark of the request (`writeSnapshotText`). */
  readonly description: string
  readonly at: Date
}

export interface StopTestingInput extends TestingInput {
  /** The range is opened even if a machine could not be rolled back. */
  readonly force: boolean
}

/**
 * The machines of a range that testing mode is about: all but its router. Configured machines are recognized by their mark: a name or a tag
 * on the hypervisor does not make a machine a router.
 */
const inTesting = (rangeId: RangeId, config: RangeConfig, world: PlanWorld) => {
  const nameOf = (name: string): string => renderName(name, { rangeId })
  const { own, foreign, unreadable } = identify(rangeId, world)
  const configured = new Map(config.machines.map(({ name, testing }) => [nameOf(name), testing]))
  const router = nameOf(config.router.name)
  const machines = [...own.values()].filter(
    ({ observed, mark }) => mark.machine !== router && (configured.has(mark.machine) || !isRouter(observed, rangeId)),
  )
  return {
    /** Includes those that are no longer in the configuration. */
    machines,
    /** Those that are to have no snapshot. */
    spared: new Set(machines.filter(({ mark }) => configured.get(mark.machine)?.snapshot === false)),
    foreign,
    unreadable,
  }
}

/** The machines whose snapshots are needed to plan testing mode. */
export const machinesInTesting = (rangeId: RangeId, config: RangeConfig, world: PlanWorld): readonly OwnMachine[] =>
  inTesting(rangeId, config, world).machines

const hasOne = (tree: SnapshotTree | undefined): boolean =>
  tree !== undefined && findSnapshot(tree, testingSnapshot) !== undefined

/** Network cards that are attached where the router does not see them: testing mode cannot block these. */
const strayCards = (rangeId: RangeId, config: RangeConfig, world: PlanWorld): readonly string[] => {
  const { own: machines } = identify(rangeId, world)
  const own = [...machines.values()]
  const router = machines.get(renderName(config.router.name, { rangeId }))
  const inside = new Set(router?.detail.nics.slice(1).map(({ bridge }) => bridge))
  return own.flatMap((machine) =>
    machine === router
      ? []
      : machine.detail.nics.flatMap((card) =>
          inside.has(card.bridge)
            ? []
            : [
                `${labelOf(machine.observed)} has a network card outside the range's network (${cardText(card)}): the router cannot block that`,
              ],
        ),
  )
}

/** Key of the step that records this mode: once it is settled, the mode holds. */
export const testingKey = (mode: TestingMode): string => `testing:${mode}`

const recordTitles: Readonly<Record<TestingMode, string>> = {
  off: "Record that testing mode is off",
  entering: "Record that testing mode begins",
  on: "Record that testing mode is on",
  leaving: "Record that testing mode ends",
}

const recordStep = (rangeId: RangeId, testing: TestingState, after: readonly string[]): Step => ({
  key: testingKey(testing.mode),
  title: recordTitles[testing.mode],
  tag: undefined,
  machine: undefined,
  action: { kind: "record-testing", rangeId, testing },
  after,
  uses: [],
  estimate: timing.configure,
})

const keysOf = (steps: readonly Step[]): readonly string[] => steps.map(({ key }) => key)
const isGuest = ({ action }: Step): boolean => action.kind === "guest"

/** The router's steps. Only those that run inside it wait for `after`. */
const routerSteps = ({ steps }: Plan, after: readonly string[]): readonly Step[] =>
  steps.map((step) => (isGuest(step) ? { ...step, after: [...step.after, ...after] } : step))

const planOf = (rangeId: RangeId, steps: readonly Step[], plans: readonly Plan[], warnings: readonly string[]): Plan => ({
  rangeId,
  steps,
  changes: plans.flatMap(({ changes }) => changes.filter(({ kind }) => kind !== "none")),
  placements: [],
  allocations: [],
  notes: [...new Set([...plans.flatMap(({ notes }) => notes), ...warnings])],
  criticalPathSeconds: criticalPath(steps).seconds,
})

const refusalsOf = (plan: Plan, hint?: string): readonly PlanIssue[] =>
  plan.steps.flatMap(({ action }) =>
    action.kind === "refuse"
      ? [{ code: "no-snapshot" as const, message: action.because, ...(hint === undefined ? {} : { hint }) }]
      : [],
  )

const without = (tree: SnapshotTree, name: string): SnapshotTree => ({
  ...tree,
  snapshots: tree.snapshots.filter((snapshot) => snapshot.name !== name),
})

/** How far a node's clock may be ahead of ours. The age of a snapshot from further in the future is unknown. */
const clockHours = 0.1

type CleanSnapshot = "none" | "kept" | "stale"

/**
 * Whether a machine's snapshot is one to roll back to. While testing mode is being entered it is, because it was taken for that. Otherwise
 * only its age counts: even one with the mark of the request may be from long before the run was resumed.
 */
const cleanSnapshotOf = ({ range, config, at }: StartTestingInput, tree: SnapshotTree | undefined): CleanSnapshot => {
  const known = tree === undefined ? undefined : findSnapshot(tree, testingSnapshot)
  if (known === undefined) return "none"
  if (known.incomplete) return "none"
  if (range.testing.mode === "entering") return "kept"
  const hours = (at.getTime() / 1000 - known.takenAt) / 3600
  const { staleHours } = config.defaults
  return staleHours > 0 && hours >= -clockHours && hours <= staleHours ? "kept" : "stale"
}

/**
 * Plans the start of testing: first snapshots of all machines, then the record that it begins, then the router's rules, then the record
 * that it is on. A snapshot that is too old is replaced only after each machine without one has its own, and never without another one in
 * its place: the hypervisor cannot rename snapshots, so a stand-in exists from before the old one is removed until after the new one is
 * taken.
 */
export const planStartTesting = (input: StartTestingInput): Result.Result<Plan, readonly PlanIssue[]> => {
  const { range, config, world, router, description } = input
  const { machines, spared, foreign, unreadable } = inTesting(range.id, config, world)
  const tested = machines.filter((own) => !spared.has(own))
  const cleanSnapshots = new Map(tested.map((own) => [own, cleanSnapshotOf(input, world.trees.get(own.observed.vmid))] as const))
  const vmidsIn = (...some: readonly CleanSnapshot[]): readonly Vmid[] =>
    tested.flatMap((own) => (some.includes(cleanSnapshots.get(own) ?? "none") ? [own.observed.vmid] : []))
  const stale = new Set(vmidsIn("stale"))
  const asked = { range, atomic: false, description } as const
  const seen = (name: string): SnapshotWorld => ({
    ...world,
    trees: new Map([...world.trees].map(([vmid, tree]) => [vmid, stale.has(vmid) ? without(tree, name) : tree])),
  })
  const memory = config.defaults.snapshotWithRam
  const taking = planTakeSnapshots({
    ...asked,
    name: testingSnapshot,
    memory,
    world: seen(testingSnapshot),
    vmids: [...vmidsIn("none", "stale"), ...unreadable.map(({ machine }) => machine.vmid)],
  })
  const hasStandIn = (vmid: Vmid): boolean => {
    const tree = world.trees.get(vmid)
    return tree !== undefined && findSnapshot(tree, testingStandIn) !== undefined
  }
  const standIns = planTakeSnapshots({
    ...asked,
    name: testingStandIn,
    memory: false,
    world,
    vmids: [...stale].filter((vmid) => !hasStandIn(vmid)),
  })
  const removal = planRemoveSnapshots({ range, world, name: testingSnapshot, vmids: [...stale] })
  const leftOver = planRemoveSnapshots({
    range,
    world: {
      ...world,
      trees: new Map(
        [...world.trees].map(([vmid, tree]) => [vmid, stale.has(vmid) && !hasStandIn(vmid) ? withStandIn(tree) : tree]),
      ),
    },
    name: testingStandIn,
    vmids: tested.flatMap(({ observed: { vmid } }) => (stale.has(vmid) || hasStandIn(vmid) ? [vmid] : [])),
  })
  const issues = [
    ...refusalsOf(taking),
    ...refusalsOf(standIns),
    ...refusalsOf(removal),
    ...(range.testing.mode === "entering" ? [] : [...spared].flatMap((own) => leftOverIssues(own, world))),
  ]
  if (issues.length > 0) return Result.fail(issues)

  const staleNames = new Set(tested.flatMap(({ observed, mark }) => (stale.has(observed.vmid) ? [mark.machine] : [])))
  const isStale = ({ machine }: Step): boolean => staleNames.has(machine ?? "")
  const firsts = taking.steps.filter((step) => !isStale(step)).map(required)
  const secured = standIns.steps.map((step) => required({ ...step, key: `stand-in:${step.machine}` }))
  const removed = removal.steps.map((step) =>
    required({
      ...step,
      after: [...keysOf(firsts), ...secured.filter(({ machine }) => machine === step.machine).map(({ key }) => key)],
    }),
  )
  const replaced = taking.steps.filter(isStale).map((step) => required({ ...step, after: [`remove-snapshot:${step.machine}`] }))
  const taken = new Set(keysOf([...firsts, ...replaced]))
  const cleared = leftOver.steps.flatMap((step): readonly Step[] => {
    const take = `take-snapshot:${step.machine}`
    const { action } = step
    if (action.kind !== "remove-snapshot") return []
    const isNew = secured.some(({ machine }) => machine === step.machine)
    const { machine, snapshot, takenAt } = action
    return [
      {
        ...step,
        key: `remove-stand-in:${step.machine}`,
        action: { kind: "remove-snapshot", machine, snapshot, ...(isNew ? { description } : { takenAt }) },
        after: taken.has(take) ? [take] : [],
        tolerated: true,
      },
    ]
  })
  const testing = (mode: TestingMode): TestingState => ({ ...range.testing, mode })
  const entering = recordStep(range.id, testing("entering"), [...taken])
  const rules = routerSteps(router, [entering.key])
  const on = recordStep(range.id, testing("on"), [entering.key, ...keysOf(rules)])
  return Result.succeed(
    planOf(
      range.id,
      [...firsts, ...secured, ...removed, ...replaced, ...cleared, entering, ...rules, on],
      [taking, router],
      [
        ...testingWarnings(config, { rangeId: range.id, hardwareAddresses: hardwareAddresses(range, world) }),
        ...[...spared].map((own) => sparedText(own, world)),
        ...foreign.map(
          ({ machine, why }) =>
            `${labelOf(machine)} is in the range's pool but is not ours: it gets no snapshot and is not rolled back, and testing can only be stopped with force while it is there (${why})`,
        ),
        ...strayCards(range.id, config, world),
      ],
    ),
  )
}

const withoutSnapshot = "(testing.snapshot is false)"

const sparedText = ({ observed, mark }: OwnMachine, { trees }: SnapshotWorld): string =>
  hasOne(trees.get(observed.vmid))
    ? `${mark.machine} should have no snapshot ${withoutSnapshot}, but one was taken since testing began: a stop rolls it back`
    : `${mark.machine} gets no snapshot and is not rolled back when testing stops ${withoutSnapshot}`

/** A stop rolls back whatever has a snapshot: one from another time would bring back a state that nobody wants. */
const leftOverIssues = ({ observed }: OwnMachine, { trees }: SnapshotWorld): readonly PlanIssue[] =>
  hasOne(trees.get(observed.vmid))
    ? [
        {
          code: "no-snapshot",
          message: `${labelOf(observed)} should have no snapshot ${withoutSnapshot}, but has an older ${testingSnapshot}, to which a stop would roll it back`,
          hint: `Remove that snapshot (${testingSnapshot}) of these machines, or set testing.snapshot to true and deploy.`,
        },
      ]
    : []

/** The snapshots as they will be when the stand-in has been taken, so that its removal can be planned. */
const withStandIn = (tree: SnapshotTree): SnapshotTree => ({
  ...tree,
  snapshots: [...tree.snapshots, { name: testingStandIn, description: "", takenAt: 0, memory: false, incomplete: false }],
})

/** Makes the step's failure fail the run. */
const required = ({ tolerated: _tolerated, ...step }: Step): Step => step

const forceHint = "Repeat with force to open the range anyway: the machines that are not rolled back stay as they are."

/**
 * Plans the end of testing: the record that it ends, then every machine back to its snapshot, and only when all are back, the record that
 * it is off and the router's rules. With force these come whatever happened to the machines. The record comes before the rules: a range
 * that is recorded as open but closed does no harm, the opposite does. A machine that cannot be read counts as not rolled back, and so does
 * one in the pool that is not ours. Whatever has a snapshot is rolled back, even if the configuration no longer names it.
 */
export const planStopTesting = (input: StopTestingInput): Result.Result<Plan, readonly PlanIssue[]> => {
  const { range, config, world, router, force } = input
  const { machines, spared, foreign, unreadable } = inTesting(range.id, config, world)
  const hadNone = (own: OwnMachine): boolean => {
    const tree = world.trees.get(own.observed.vmid)
    return spared.has(own) && tree !== undefined && !hasOne(tree)
  }
  const vmids = [
    ...machines.filter((own) => !hadNone(own)).map(({ observed }) => observed.vmid),
    ...[...unreadable, ...foreign].map(({ machine }) => machine.vmid),
  ]
  const back = planRollBack({ range, world, name: testingSnapshot, vmids, atomic: false })
  const issues = force ? [] : refusalsOf(back, forceHint)
  if (issues.length > 0) return Result.fail(issues)
  const leaving = recordStep(range.id, { ...range.testing, mode: "leaving" }, [])
  const backSteps = back.steps.map((step) => ({ ...step, after: [...step.after, leaving.key] }))
  const backKeys = keysOf(backSteps.filter(({ action }) => action.kind !== "refuse"))
  const off: Step = force
    ? { ...recordStep(range.id, noTesting, [leaving.key]), behind: backKeys }
    : recordStep(range.id, noTesting, [leaving.key, ...backKeys])
  const rules = routerSteps(router, [off.key])
  return Result.succeed(planOf(range.id, [leaving, ...backSteps, off, ...rules], [back, router], []))
}

/**
 * Plans a change of what is allowed: first the record that testing mode begins again, without what is no longer allowed; then the router's
 * rules; then the record that testing mode is on, with what is newly allowed. So an unfinished change can be seen: the router may let
 * through more than is recorded, and a start loads its rules again.
 */
export const planChangeTesting = ({
  range,
  router,
  testing,
}: {
  readonly range: TestedRange
  readonly router: Plan
  /** What is to be allowed. */
  readonly testing: TestingState
}): Plan => {
  const { allowedDomains, allowedIps } = range.testing
  const entering = recordStep(
    range.id,
    {
      mode: "entering",
      allowedDomains: allowedDomains.filter((entry) => testing.allowedDomains.includes(entry)),
      allowedIps: allowedIps.filter((entry) => testing.allowedIps.includes(entry)),
    },
    [],
  )
  const rules = routerSteps(router, [entering.key])
  const on = recordStep(range.id, { ...testing, mode: "on" }, [entering.key, ...keysOf(rules)])
  return planOf(range.id, [entering, ...rules, on], [router], [])
}
