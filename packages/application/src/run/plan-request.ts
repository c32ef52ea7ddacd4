import {
  allocateVmids,
  changesNothing,
  checkRangeConfig,
  Conflict,
  type DeployChoice,
  type DeployInput,
  type DeployTag,
  driftOf,
  type Fault,
  InvalidInput,
  liesBelow,
  machineNames,
  NotFound,
  type ObservedCluster,
  type ParsedRangeConfig,
  type Plan,
  planActivateWindows,
  planAntiSandbox,
  planDeploy,
  planDestroy,
  planFingerprint,
  planKmsServer,
  planPower,
  planRemoveSnapshots,
  planRollBack,
  planTakeSnapshots,
  type PlanIssue,
  type Range,
  type RangeConfig,
  readDescription,
  renderName,
  testingSnapshotProblem,
  type UserId,
  type Vmid,
  usesRoles,
  wholeDeploy,
  howTo,
  isClosed,
  isCluster,
} from "@rangewright/domain"
import {
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  Machines,
  Ranges,
  RunJournal,
  StepDurations,
  Users,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { inOwnTurn, longWork } from "../operation/long-work.ts"
import { routerAway } from "../range/router-away.ts"
import { otherRanges } from "../range/other-ranges.ts"
import { readRangeConfig, refusedConfig } from "../range/read-config.ts"
import { Settings } from "../settings.ts"
import { planned } from "./planned.ts"
import { type PlanMoment, RunPlanner } from "./planner.ts"
import { testingPlan } from "./plan-testing.ts"
import { loadReservations, makeReservations, type CapacityReservations } from "./reservations.ts"
import {
  cardsWithMemory,
  incapableOf,
  planSettings,
  readMachines,
  readRange,
  snapshotsOf,
  withTemplates,
  type WorldRead,
} from "./read-world.ts"
import { kmsDoing, requireOpenRange } from "../kms/open-range.ts"
import { requireAdministrators } from "../kms/server-machine.ts"
import {
  type AntiSandboxRequest,
  deployDoing,
  type DeployOptions,
  type KmsRequest,
  type RunRequest,
  type SnapshotRequest,
} from "./request.ts"

const readConfig = (range: Range, text: string | undefined, doing = deployDoing(range, {})) =>
  Effect.gen(function* () {
    if (text === undefined)
      return yield* new NotFound({
        what: `Cannot ${doing}: it has no configuration`,
        hint: `Upload one: ${howTo("PUT /range/config", {}, range.id)}.`,
      })
    const read = yield* readRangeConfig(text)
    return Result.isFailure(read) ? yield* refusedConfig(read.failure) : read.success
  })

/** The configuration, checked again: what is installed may have changed since it was uploaded. */
const deployableConfig = (
  range: Range,
  text: string | undefined,
  by: UserId,
  { onlyRoles, ...options }: Pick<DeployOptions, "onlyRoles" | "resumes">,
) =>
  Effect.gen(function* () {
    const guests = yield* GuestAutomation
    const doing = deployDoing(range, options)
    const parsed: ParsedRangeConfig = yield* readConfig(range, text, doing)
    const names = usesRoles(parsed.config) || onlyRoles.length > 0 ? yield* guests.roles(by) : undefined
    const missing = onlyRoles.filter((role) => names !== undefined && !names.has(role))
    if (missing.length > 0)
      return yield* new InvalidInput({
        what: `Cannot ${doing}: ${missing.map((role) => `the role ${role} does not exist on the Ludus server`).join("; ")}`,
        hint: "Install the role first, or leave it out of only_roles.",
      })
    const roles = names === undefined ? undefined : { names, collections: new Set<string>() }
    const errors = checkRangeConfig(parsed, { rangeId: range.id, rangeNumber: range.number, roles }).filter(
      ({ severity }) => severity === "error",
    )
    return errors.length > 0 ? yield* refusedConfig(errors) : parsed.config
  })

/** A VMID for each machine: reserved durably, or only looked up. */
const vmidsFor = (range: Range, names: readonly string[], cluster: ObservedCluster, reserve: boolean) =>
  Effect.gen(function* () {
    const machines = yield* Machines
    const { vmidSpan } = yield* Settings
    const taken = new Set<number>(cluster.machines.map(({ vmid }) => vmid))
    if (reserve) return yield* machines.reserve(range.id, names, taken, vmidSpan)
    const known = yield* machines.reservations(range.id)
    for (const vmid of known.values()) taken.add(vmid)
    const missing = names.filter((name) => !known.has(name))
    return new Map<string, Vmid>([...known, ...(yield* Effect.fromResult(allocateVmids(missing, vmidSpan, taken)))])
  })

interface Wanted {
  readonly range: Range
  readonly config: RangeConfig
  readonly by: UserId
  /** Absent: as stored. */
  readonly isDisguised?: boolean
}

/** How long work took in earlier runs, and which roles are the user's own: what is learned of those stays with the user. */
const learned = (config: RangeConfig, by: UserId) =>
  Effect.gen(function* () {
    const guests = yield* GuestAutomation
    const durations = yield* StepDurations
    const ownRoles = usesRoles(config)
      ? yield* Effect.orElseSucceed(guests.ownRoles?.(by) ?? Effect.undefined, () => undefined)
      : undefined
    return { durations: yield* durations.known(by), ownRoles }
  })

/** The input of a deploy plan, except the choice and the VMIDs for new machines. */
const inputFrom = (wanted: Wanted, cluster: ObservedCluster, read: WorldRead) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const ranges = yield* Ranges
    const guests = yield* GuestAutomation
    const { range, config, by, isDisguised = Object.keys(range.disguises ?? {}).length > 0 } = wanted
    const settings = yield* planSettings(yield* Settings, cluster)
    const grants = yield* ranges.grants(range.id)
    const world = yield* readRange(range, cluster, read)
    const guestObstacles = yield* guests.obstacles?.(range.id, by) ?? Effect.succeed([])
    const disguiseMeans = isDisguised ? yield* hypervisor.disguiseMeans : undefined
    const otherWorld = { otherRanges: yield* otherRanges(range), guestObstacles, disguiseMeans, ...(yield* learned(config, by)) }
    return { range, config, grants, settings, world: { ...world, ...otherWorld } }
  })

/** The same from an observation of the whole cluster, with a VMID for each machine: reserved durably, or only looked up. */
const deployInput = (wanted: Wanted, reserve: boolean, read: Pick<WorldRead, "details"> = {}) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const cluster = yield* hypervisor.observe
    const input = yield* inputFrom(wanted, cluster, { ...read, forget: reserve })
    const names = machineNames(wanted.range.id, wanted.config)
    const reservations = yield* vmidsFor(wanted.range, names, cluster, reserve)
    return { ...input, world: { ...input.world, reservations } }
  })

/** The same from an observation of the range's pool alone; undefined unless that shows every known machine of the range, and its zone. */
const inputFromPool = (wanted: Wanted) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const machines = yield* Machines
    const { range, config } = wanted
    const known = new Set([
      ...(yield* machines.ofRange(range.id)).map(({ vmid }) => vmid),
      ...(yield* machines.stages(range.id)).keys(),
      ...(yield* machines.reservations(range.id)).values(),
    ])
    // at least one machine does not exist yet
    if (known.size < machineNames(range.id, config).length) return undefined
    // an account without rights on the pool may still see the cluster
    const pool = yield* hypervisor.observePool(range.id).pipe(
      Effect.catchIf(
        ({ facts }) => facts.reason !== "away",
        () => Effect.succeed(undefined),
      ),
    )
    if (pool === undefined) return undefined
    const listed = new Set(pool.machines.map(({ vmid }) => vmid))
    const { clusterMode, sdnZone } = yield* Settings
    const isZoneKnown = !isCluster(clusterMode, pool.nodes) || pool.zones?.some(({ zone }) => zone === sdnZone) === true
    const isAll = isZoneKnown && [...known].every((vmid) => listed.has(vmid))
    return isAll ? yield* inputFrom(wanted, pool, { forget: false }) : undefined
  })

/**
 * Plans without a run. The range's own machines show whether there is nothing to do, at a cost that does not grow with the cluster. Any
 * change needs more: templates, free capacity of nodes, VMIDs in use. Then `whole` plans from the whole cluster.
 */
const previewed = <A, E, R>(
  wanted: Wanted,
  choice: DeployChoice,
  plan: (input: DeployInput) => Result.Result<A, readonly PlanIssue[]>,
  isUnchanged: (made: A) => boolean,
  whole: (input: DeployInput) => Effect.Effect<A, E, R>,
) =>
  Effect.gen(function* () {
    const own = yield* inputFromPool(wanted)
    if (own !== undefined) {
      const made = yield* longWork(() => plan({ ...own, choice }))
      if (Result.isSuccess(made) && isUnchanged(made.success)) return made.success
    }
    const input = yield* deployInput(wanted, false, { details: own?.world.details })
    return yield* whole(yield* withTemplates({ ...input, choice }))
  })

const withReservations = (reservations: CapacityReservations, input: DeployInput): DeployInput => {
  const { world } = input
  return { ...input, world: { ...world, reserved: reservations.reservedByOthers(input.range.id, world.cluster) } }
}

const storedText = (range: Range) =>
  Effect.flatMap(Ranges, (ranges) => Effect.map(ranges.config(range.id), (stored) => stored?.text))
const deployedText = (range: Range) => Effect.flatMap(Ranges, (ranges) => ranges.deployedConfig(range.id))

const deployPlan = (reservations: CapacityReservations, range: Range, choice: DeployOptions, by: UserId, moment: PlanMoment) =>
  Effect.gen(function* () {
    const doing = deployDoing(range, choice)
    if (isClosed(range.testing) && !choice.force)
      return yield* new Conflict({
        what: `Cannot ${doing}: testing mode is on`,
        hint: "Stop testing first, or deploy with force.",
      })
    const text = yield* moment === "when open" ? deployedText(range) : storedText(range)
    const config = yield* deployableConfig(range, text, by, choice)
    const wanted = { range, config, by }
    const reserve = moment !== "preview"
    const whole = Effect.fnUntraced(function* (input: DeployInput) {
      yield* loadReservations(reservations)
      // looked up, planned and reserved without interruption: of two concurrent plans one sees the other
      return yield* planned(doing, () =>
        Result.map(planDeploy(withReservations(reservations, input)), (plan) => {
          if (reserve) reservations.reserve(range.id, plan, input.world.cluster.at.getTime())
          return plan
        }),
      )
    })
    const plan = reserve
      ? yield* whole(yield* withTemplates({ ...(yield* deployInput(wanted, reserve)), choice }))
      : yield* previewed(wanted, choice, planDeploy, changesNothing, whole)
    yield* requireConfirmed(range, choice, plan)
    return plan
  })

/** Fails when the plan to be run now is not the one that was confirmed. */
const requireConfirmed = (range: Range, { confirmed, resumes }: DeployOptions, plan: Plan): Effect.Effect<void, Conflict> =>
  confirmed === undefined || confirmed === planFingerprint(plan)
    ? Effect.void
    : Effect.fail(
        new Conflict({
          what: `Cannot ${deployDoing(range, { resumes })}: the plan has changed since it was confirmed`,
          hint: `Read the plan again (${resumes === undefined ? "GET /range/plan" : `POST /runs/${resumes}/resume with dryRun`}) and confirm that one.`,
        }),
      )

/** The part of the last deploy that these tags select on the router; ignores a configuration uploaded since. */
const routerInput = (range: Range, tags: readonly DeployTag[], by: UserId, moment: PlanMoment) =>
  Effect.gen(function* () {
    const { config } = yield* readConfig(range, yield* deployedText(range))
    const limit = renderName(config.router.name, { rangeId: range.id })
    const choice: DeployChoice = { ...wholeDeploy, tags, limit, force: true }
    const input = yield* deployInput({ range, config, by }, moment !== "preview")
    const router = input.world.cluster.machines.find(({ name, pool }) => name === limit && pool === range.id)
    return { config, router: limit, power: router?.power, input: { ...input, choice } }
  })

/** Plans the update of who the router lets in. Allowed in testing mode too, since access changes then as well. */
const accessPlan = (range: Range, by: UserId, moment: PlanMoment) =>
  Effect.gen(function* () {
    const { input, router, power } = yield* routerInput(range, ["access-control"], by, moment)
    const doing = `change who may use range ${range.id}`
    // an update is no reason to power it on, or to recreate it
    if (power !== "running") return yield* routerAway(doing, range, router, power ?? "gone")
    const whole = yield* withTemplates(input)
    return yield* planned(doing, () => planDeploy(whole))
  })

/** Only reads. Testing mode forbids deploying, not comparing. */
const driftPlan = (range: Range, by: UserId) =>
  Effect.gen(function* () {
    const config = yield* deployableConfig(range, yield* storedText(range), by, { onlyRoles: [] })
    const doing = `compare range ${range.id} with its configuration`
    const whole = (input: DeployInput) => planned(doing, () => driftOf(input))
    return yield* previewed({ range, config, by }, wholeDeploy, driftOf, ({ inSync }) => inSync, whole)
  })

/** Fails while there are ranges below this one: its pool cannot be removed before theirs. Names only ranges that this user has. */
const refuseWithRangesBelow = (range: Range, by: UserId) =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const users = yield* Users
    const below = (yield* ranges.list()).filter(({ id }) => liesBelow(id, range.id))
    if (below.length === 0) return
    const sees = (yield* users.find(by))?.isAdmin === true
    const shown = sees ? below : (yield* ranges.list({ for: by })).filter(({ id }) => liesBelow(id, range.id))
    const hidden = below.length - shown.length
    const named = [...shown.map(({ id }) => id), ...(hidden === 0 ? [] : [`${hidden} of other users`])]
    return yield* new Conflict({
      what: `Cannot delete range ${range.id}: there are ranges below it: ${named.join(", ")}`,
      hint: hidden === 0 ? "Delete these first." : "Delete yours first, and ask an administrator for the others.",
    })
  })

const destroyPlan = (
  range: Range,
  request: Extract<RunRequest, { readonly kind: "destroy" | "delete-range" | "destroy-vm" }>,
  by: UserId,
) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    if (request.kind === "delete-range") yield* refuseWithRangesBelow(range, by)
    const cluster = yield* hypervisor.observe
    const settings = yield* planSettings(yield* Settings, cluster)
    if (request.kind !== "delete-range") {
      const world = yield* readMachines(range, cluster)
      const scope = request.kind === "destroy" ? { kind: "machines" as const } : { kind: "machine" as const, vmid: request.vmid }
      const doing = request.kind === "destroy" ? `remove the VMs of range ${range.id}` : `remove VM ${request.vmid}`
      return yield* planned(doing, () => planDestroy({ range, settings, world, scope }))
    }
    const world = yield* readRange(range, cluster, { forget: false })
    const there = [...world.details.values()].filter(({ description }) => readDescription(description).mark?.range === range.id)
    if (there.length > 0 && !request.force)
      return yield* new Conflict({
        what: `Cannot delete range ${range.id}: it still has ${there.length} ${there.length === 1 ? "VM" : "VMs"}`,
        hint: "Remove them first, or repeat with force=true (--force on the command line).",
      })
    return yield* planned(`delete range ${range.id}`, () => planDestroy({ range, settings, world, scope: { kind: "range" } }))
  })

const powerPlan = (range: Range, request: Extract<RunRequest, { readonly kind: "power" | "auto-shutdown" }>) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const world = yield* readMachines(range, yield* hypervisor.observe)
    const asked = request.kind === "power" ? request : { change: "shutdown" as const, vmids: undefined }
    return yield* planned(`change the power of range ${range.id}`, () => planPower({ ...asked, range, world }))
  })

/** Plans disguises from what was deployed last; ignores a configuration uploaded since. */
const antiSandboxPlan = (range: Range, request: AntiSandboxRequest, by: UserId, moment: PlanMoment) =>
  Effect.gen(function* () {
    const { vmids } = request
    const disguise = request.kind === "anti-sandbox-enable" ? request.disguise : undefined
    const doing = `${disguise === undefined ? "remove the disguises of" : "disguise"} machines of range ${range.id}`
    if (isClosed(range.testing))
      return yield* new Conflict({
        what: `Cannot ${doing}: testing mode is on, and stopping it would undo changes inside the machines`,
        hint: "Stop testing first.",
      })
    const { config } = yield* readConfig(range, yield* deployedText(range))
    const input = yield* deployInput({ range, config, by, isDisguised: disguise !== undefined }, moment !== "preview")
    const deploy = yield* withTemplates({ ...input, choice: wholeDeploy })
    return yield* planned(doing, () => planAntiSandbox({ deploy, vmids, disguise }))
  })

const snapshotPlan = (range: Range, request: SnapshotRequest) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const world = yield* readMachines(range, yield* hypervisor.observe)
    const { name, vmids } = request
    const problem = isClosed(range.testing) ? testingSnapshotProblem(name) : undefined
    if (problem !== undefined)
      return yield* new Conflict({ what: `Cannot change snapshots of machines of range ${range.id}: ${problem}` })
    const asked = { range, name, vmids, world: { ...world, trees: yield* snapshotsOf(world, vmids) } }
    switch (request.kind) {
      case "snapshot-create":
        return planTakeSnapshots({
          ...asked,
          ...request,
          world: { ...asked.world, incapable: yield* incapableOf(world, vmids) },
        })
      case "snapshot-rollback":
        return planRollBack({
          ...asked,
          atomic: request.atomic,
          routerStays: isClosed(range.testing),
          world: { ...asked.world, cards: yield* cardsWithMemory(world, asked.world.trees, name) },
        })
      case "snapshot-remove":
        return planRemoveSnapshots(asked)
    }
  })

/** Checks again: the machines may have changed since they were asked before the run opened. */
const kmsPlan = (range: Range, request: KmsRequest, by: UserId) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const durations = yield* StepDurations
    const doing = kmsDoing(request, range)
    yield* requireOpenRange(range, doing)
    if (request.kind === "kms-install") yield* requireAdministrators(range, doing)
    const machines = yield* readMachines(range, yield* hypervisor.observe)
    const world = { ...machines, durations: yield* durations.known(by) }
    return request.kind === "kms-install"
      ? planKmsServer({ range, world, vmid: request.vmid })
      : planActivateWindows({ range, world, ...request })
  })

const make = Effect.gen(function* () {
  type Needs =
    | GuestAutomation
    | Hypervisor
    | HypervisorAccess
    | HypervisorNetwork
    | Machines
    | Ranges
    | RunJournal
    | Settings
    | StepDurations
    | Users
  const services = yield* Effect.context<Needs>()
  const reservations = makeReservations()
  const plan = (range: Range, request: RunRequest, by: UserId, moment: PlanMoment): Effect.Effect<Plan, Fault, Needs> => {
    switch (request.kind) {
      case "deploy":
        return deployPlan(reservations, range, request.options, by, moment)
      case "access":
        return accessPlan(range, by, moment)
      case "destroy":
      case "delete-range":
      case "destroy-vm":
        return destroyPlan(range, request, by)
      case "power":
      case "auto-shutdown":
        return powerPlan(range, request)
      case "snapshot-create":
      case "snapshot-rollback":
      case "snapshot-remove":
        return snapshotPlan(range, request)
      case "anti-sandbox-enable":
      case "anti-sandbox-disable":
        return antiSandboxPlan(range, request, by, moment)
      case "testing-start":
      case "testing-stop":
      case "testing-change":
      case "testing-update":
        return testingPlan(range, request, (testing, tags) => routerInput({ ...range, testing }, tags, by, moment))
      case "kms-license":
      case "kms-install":
        return kmsPlan(range, request, by)
    }
  }
  return RunPlanner.of({
    plan: (range, request, by, moment) => {
      const planning = Effect.provideContext(plan(range, request, by, moment), services)
      return moment === "preview" ? inOwnTurn(planning) : planning
    },
    drift: (range, by) => inOwnTurn(Effect.provideContext(driftPlan(range, by), services)),
  })
})

/** Plans by observing the hypervisor and calling the domain's planner. */
export const runPlannerLayer = Layer.effect(RunPlanner, make)
