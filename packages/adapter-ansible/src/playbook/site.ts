import {
  carriesMark,
  foreignAddressNote,
  type Grant,
  isRouter,
  judgeAddresses,
  type License,
  type MachineDetail,
  parseRangeConfig,
  type Range,
  type RangeConfig,
  type RangeHost,
  rangeHosts,
  renderName,
  type SeenMachine,
  stageKey,
  taggedTemplates,
  type User,
  type Vmid,
} from "@rangewright/domain"
import {
  GuestFault,
  type GuestTask,
  Hypervisor,
  LicenseProvider,
  Machines,
  Ranges,
  retryOf,
  SecretStore,
  Users,
} from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type KnownLogin, knownLogins } from "./login.ts"
import type { Settings } from "./options.ts"

/** What a stage must know of the range around its machine, read now. */
export interface Site {
  readonly range: Range
  readonly config: RangeConfig | undefined
  /** The configuration as uploaded. */
  readonly configText: string
  readonly grants: readonly Grant[]
  readonly user: User | undefined
  readonly license: License
  readonly hosts: readonly RangeHost[]
  /** The machine of the stage, one of `hosts`. */
  readonly target: RangeHost & { readonly address: string }
  readonly detail: MachineDetail
  /** The known logins of the range's machines. */
  readonly logins: ReadonlyMap<Vmid, KnownLogin>
  /** Addresses that the machine reports but that are not its own. */
  readonly foreignAddresses: readonly string[]
}

/** The ports that it is read from. */
export interface SitePorts {
  readonly hypervisor: Context.Service.Shape<typeof Hypervisor>
  readonly license: Context.Service.Shape<typeof LicenseProvider>
  readonly machines: Context.Service.Shape<typeof Machines>
  readonly ranges: Context.Service.Shape<typeof Ranges>
  readonly secrets: Context.Service.Shape<typeof SecretStore>
  readonly users: Context.Service.Shape<typeof Users>
}

export const sitePorts: Effect.Effect<SitePorts, never, Hypervisor | LicenseProvider | Machines | Ranges | SecretStore | Users> =
  Effect.all({
    hypervisor: Hypervisor,
    license: LicenseProvider,
    machines: Machines,
    ranges: Ranges,
    secrets: SecretStore,
    users: Users,
  })

const seenAs = (
  task: GuestTask,
  detail: MachineDetail,
  known: SeenMachine | undefined,
  routerName: string | undefined,
): SeenMachine => ({
  vmid: detail.vmid,
  node: detail.node,
  name: task.name,
  power: "running",
  template: false,
  pool: known?.pool ?? task.machine.mark.range,
  cpus: detail.cpus,
  memoryMiB: detail.memoryMiB,
  tags: known?.tags ?? [],
  address: known?.address,
  isRouter:
    known?.isRouter === true ||
    task.name === routerName ||
    isRouter({ name: task.name, tags: known?.tags ?? [] }, task.machine.mark.range),
})

const faultOn = (task: GuestTask, reason: "away" | "failed", detail: string): GuestFault =>
  new GuestFault({ doing: `run stage ${task.stage}`, machine: task.name, reason, detail })

/** Reads the machine's configuration. Nothing is done to a machine without the mark. */
export const readMachine = Effect.fnUntraced(function* ({ hypervisor }: Pick<SitePorts, "hypervisor">, task: GuestTask) {
  const { vmid, node, mark } = task.machine
  const detail = yield* hypervisor
    .detail(node, vmid)
    .pipe(Effect.mapError((error) => faultOn(task, retryOf(error) !== "never" ? "away" : "failed", error.message)))
  return carriesMark(detail.description, mark)
    ? detail
    : yield* faultOn(task, "failed", `VM ${vmid} does not carry the mark of machine ${mark.machine}`)
})

/** Ten minutes in total: a guest that got no address tries again after five at the latest. */
const firstLooks = 300
const lookEveryMillis = 2000
/** A machine that is off has no address until it is started again, so its power is read once a minute. */
const looksPerPower = 30

/** The first stages of a machine: its reported system may be new then. */
const isFirst = ({ stage }: GuestTask): boolean => stage === "address" || stage === "router"

/**
 * The systems reported by the range's machines. The stage's own machine is queried, and its answer stored, when nothing is known of it or
 * it was recreated; if it reports nothing, what is already known applies.
 */
const systemsNow = Effect.fnUntraced(function* ({ hypervisor, machines }: SitePorts, task: GuestTask) {
  const { vmid, node, mark } = task.machine
  const kept = yield* machines.systems(mark.range)
  if (kept.has(vmid) && !isFirst(task)) return kept
  const system = yield* hypervisor.system(node, vmid).pipe(Effect.orElseSucceed(() => undefined))
  if (system === undefined) return kept
  yield* machines.keepSystem(mark.range, vmid, system)
  return new Map([...kept, [vmid, system]])
})

/** Reads the surroundings of a stage's machine. Waits for its first address; in any other stage a machine without one is unreachable. */
export const readSite = Effect.fnUntraced(function* (ports: SitePorts, settings: Settings, task: GuestTask) {
  const { machine, name, by } = task
  const fault = (reason: "away" | "failed", detail: string) => faultOn(task, reason, detail)
  const unreadable = Effect.mapError((error: { readonly message: string }) => fault("away", error.message))
  const detail = yield* readMachine(ports, task)

  const range = yield* unreadable(ports.ranges.find(machine.mark.range))
  if (range === undefined) return yield* fault("failed", `range ${machine.mark.range} does not exist`)
  const text = yield* unreadable(ports.ranges.deployedConfig(range.id))
  const options = settings.rangeDefaults === undefined ? {} : { defaults: settings.rangeDefaults }
  const parsed = text === undefined ? undefined : parseRangeConfig(text, options)
  const config = parsed !== undefined && Result.isSuccess(parsed) ? parsed.success.config : undefined

  const kept = yield* unreadable(ports.machines.ofRange(range.id))
  const known = kept.find(({ vmid }) => vmid === machine.vmid)
  const others = kept.filter(({ vmid, name: other }) => vmid !== machine.vmid && other !== name)
  const routerName = config === undefined ? undefined : renderName(config.router.name, { rangeId: range.id })
  const logins = yield* unreadable(knownLogins(ports, range.id))
  const passwords = new Map([...logins].flatMap(([vmid, { current }]) => (current === undefined ? [] : [[vmid, current]])))
  const hosts = rangeHosts(range, config, [...others, seenAs(task, detail, known, routerName)], {
    passwords,
    systems: yield* unreadable(systemsNow(ports, task)),
    templateLogins: settings.templateLogins,
    templateSystems: taggedTemplates(yield* unreadable(ports.machines.templates), range.id),
  })
  const target = hosts.find((host) => host.seen.vmid === machine.vmid)
  if (target === undefined) return yield* fault("failed", `${JSON.stringify(name)} is not a valid inventory name`)

  const isRouterStage = task.stage === "router" && target.seen.isRouter
  const stages = isRouterStage ? (yield* unreadable(ports.machines.stages(range.id))).get(machine.vmid) : undefined
  const firstBoot = isRouterStage && stages?.has(stageKey("router", machine.mark.machine)) !== true
  const judge = judgeAddresses(range, config, { firstBoot })
  const forced = target.machine?.forceIp === true ? target.configuredAddress : undefined
  const look = ports.hypervisor.addresses(machine.node, machine.vmid).pipe(
    Effect.mapError((error) => fault("away", error.message)),
    Effect.map((reported) => {
      const { own = forced, foreign } = judge(target.seen, reported)
      return { own, foreign }
    }),
  )
  let seen = yield* look
  // a machine that just started gets its first address from the router, which may have come up later
  for (let left = isFirst(task) ? firstLooks : 0; seen.own === undefined && left > 0; left--) {
    yield* Effect.sleep(lookEveryMillis)
    seen = yield* look
    if (seen.own !== undefined || left % looksPerPower !== 1) continue
    const found = yield* ports.hypervisor.seek(machine.vmid, machine.node)
    if (found.type === "there" && found.power === "stopped") return yield* fault("away", "it is powered off")
  }
  const { own: address, foreign } = seen
  if (address === undefined)
    return yield* fault(
      "away",
      foreign.length === 0 ? "its guest agent reports no address" : foreignAddressNote("its guest agent", foreign),
    )
  const site: Site = {
    range,
    config,
    configText: text ?? "{}",
    grants: yield* unreadable(ports.ranges.grants(range.id)),
    user: by === undefined ? undefined : yield* unreadable(ports.users.find(by)),
    license: yield* ports.license.current,
    hosts: hosts.map((host) => (host === target ? { ...target, address } : host)),
    target: { ...target, address },
    detail,
    logins,
    foreignAddresses: foreign,
  }
  return site
})
