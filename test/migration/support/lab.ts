/** A first-generation installation under the whole service: engine, store, Proxmox adapter and simulator on one virtual clock. */
import {
  makeMemoryNames,
  makeMemoryStore,
  memoryNamesLayer,
  type MemoryStore,
  memoryStorageLayer,
} from "@rangewright/adapter-memory"
import { handlerTransport, proxmoxLayer, type PveTransport } from "@rangewright/adapter-proxmox"
import {
  migrateToEnd,
  migrateToSdn,
  returnToBridges,
  rangeEngineLayer,
  RunPlanner,
  type runPlannerLayer,
  Settings,
  type SettingsShape,
} from "@rangewright/application"
import { type MigrationDirection, newlyMadeRange, type RecordId } from "@rangewright/domain"
import {
  MigrationRecords,
  NetworkMigration,
  type NodeShell,
  Ranges,
  RunJournal,
  type ShellCommand,
  ShellFault,
  Users,
} from "@rangewright/ports"
import { createSimulator, type Simulator, type SimulatorOptions } from "@rangewright/pve-simulator"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import { plainSecrets } from "../../support/plain-secrets.ts"
import { type CrashGate, makeCrashGate } from "../../runs/support/crash-gate.ts"
import { admin, labSettings } from "../../runs/support/lab.ts"
import { makeVirtualClock, type VirtualClock } from "../../runs/support/virtual-clock.ts"
import { cardsOf, type FirstGeneration, installFirstGeneration, machinesOf, rangesOf } from "./first-generation.ts"

export interface MigrationLab {
  readonly sim: Simulator
  readonly store: MemoryStore
  readonly clock: VirtualClock
  readonly settings: SettingsShape
  readonly ranges: number
  /** The node with a shell, which is the outside network's gateway; undefined: none has one. */
  readonly gateway: string | undefined
}

/** The ranges are in the store too, as if the service had made them. */
export const makeMigrationLab = (
  made: FirstGeneration,
  options: Omit<SimulatorOptions, "clock"> = {},
  gateway?: string,
): MigrationLab => {
  const clock = makeVirtualClock()
  const sim = createSimulator({ nodes: 3, ...options, clock: { now: clock.now, schedule: clock.schedule } })
  installFirstGeneration(sim, made)
  if (gateway !== undefined) makeGateway(sim, gateway, made.ranges)
  const store = makeMemoryStore()
  for (const { id, number } of rangesOf(made.ranges)) {
    const recordId = `range${String(number).padStart(10, "0")}` as RecordId
    const past = {
      state: "SUCCESS",
      testing: { mode: "off", allowedDomains: [], allowedIps: [] },
      lastDeploymentAt: undefined,
    } as const
    const draft = { id, recordId, name: id, description: "", purpose: "", createdBy: undefined, createdAt: new Date(0), past }
    store.ranges.set(id, { ...newlyMadeRange(draft, number, []), takenOver: false })
  }
  const settings: SettingsShape = {
    ...labSettings,
    clusterMode: true,
    sdnZone: "ludus",
    vxlanTagBase: 0,
    natNetwork: "ludusnat",
  }
  return { sim, store, clock, settings, ranges: made.ranges, gateway }
}

/** As the first generation left it: only one node has the outside address, and a route to every range through its router. */
const makeGateway = ({ state }: Simulator, gateway: string, ranges: number): void => {
  for (const { name, interfaces } of state.nodes.values()) if (name !== gateway) interfaces.delete("vmbr1000")
  for (let range = 1; range <= ranges; range++)
    state.nodes.get(gateway)!.host.routes.set(`10.${range}.0.0/16`, { via: `192.0.2.${100 + range}`, device: "vmbr1000" })
}

/** The gateway's shell; commands that change something pass the gate. */
const shellOf = ({ sim, gateway }: MigrationLab, gate: CrashGate): Context.Service.Shape<typeof NodeShell> => {
  const run = (node: string, { program, args, input }: ShellCommand) =>
    Effect.tryPromise({
      try: () => sim.command(node, [program, ...args], input === undefined ? undefined : Buffer.from(input).toString()),
      catch: (error) => new ShellFault({ doing: `run ${program}`, detail: String(error) }),
    })
  const changing = gate.guard("shell", { run })
  return {
    available: true,
    reaches: (node) => node === gateway,
    run: (node, command) => (looks(command) ? run(node, command) : changing.run(node, command)),
  }
}

const looks = ({ program, args }: ShellCommand): boolean => program === "cat" || program === "find" || args.includes("show")

const keys = [MigrationRecords, NetworkMigration, Ranges, RunJournal, Users] as const
type Guarded = MigrationRecords | NetworkMigration | Ranges | RunJournal | Users

/** The ports that a migration uses, wrapped by the gate; the others unchanged. */
const guarded = <P>(gate: CrashGate, ports: Context.Context<P | Guarded>): Context.Context<P | Guarded> =>
  keys.reduce((context, key) => {
    const wide = key as unknown as Context.Key<Guarded, object>
    const service = gate.guard(key.key.replace("rangewright/", ""), Context.get(ports, wide))
    return Context.add(context, wide, service) as Context.Context<P | Guarded>
  }, ports)

/** A transport whose changing calls pass the gate: the process dies just before one, or after its effect without the answer. */
const guardedTransport = (gate: CrashGate, inner: PveTransport): PveTransport => ({
  send: (request, signal) => {
    if (request.method === "GET") return inner.send(request, signal)
    const { send } = gate.guard("api", {
      send: () => Effect.promise(() => inner.send(request, signal)),
    })
    return Effect.runPromise(send())
  },
})

const noPlanner = Layer.succeed(RunPlanner, {
  plan: () => Effect.die(new Error("no range is planned here")),
  drift: () => Effect.die(new Error("no range is planned here")),
})

/** A process on the lab behind a gate. Without a planner it plans no ranges. */
export const bootMigration = (
  lab: MigrationLab,
  gate: CrashGate = makeCrashGate(),
  planner: typeof runPlannerLayer | typeof noPlanner = noPlanner,
) => {
  const [id = "", secret = ""] = lab.sim.rootToken.split("=")
  const hypervisor = proxmoxLayer({
    urls: [],
    auth: { type: "token", id, secret: Redacted.make(secret) },
    transport: guardedTransport(gate, handlerTransport(lab.sim.handle)),
    ...(lab.gateway === undefined ? {} : { shell: shellOf(lab, gate) }),
  }).pipe(Layer.provide(Layer.succeed(Clock.Clock, lab.clock)))
  const all = Layer.merge(memoryStorageLayer(lab.store), hypervisor)
  const ports = Layer.effectContext(
    Effect.map(Effect.context<Layer.Success<typeof all>>(), (context) => guarded(gate, context)),
  ).pipe(Layer.provide(all))
  const base = Layer.mergeAll(
    ports,
    Layer.succeed(Settings, lab.settings),
    plainSecrets,
    memoryNamesLayer(makeMemoryNames()),
    Layer.succeed(Clock.Clock, lab.clock),
    Layer.succeed(References.MinimumLogLevel, "None"),
  )
  const engine = rangeEngineLayer({ owner: "service" }, [migrateToSdn, returnToBridges])
  return ManagedRuntime.make(engine.pipe(Layer.provideMerge(planner), Layer.provideMerge(base)))
}
export type MigrationProcess = ReturnType<typeof bootMigration>

export const migrate = (process: MigrationProcess, direction: MigrationDirection = "to-sdn"): Promise<string> =>
  process.runPromise(migrateToEnd(direction, true, admin))

/** What a migration may change, as data. */
export const endOf = ({ sim, store }: MigrationLab) => ({
  cards: cardsOf(sim),
  bridges: [...sim.state.nodes.values()].map(({ name, interfaces }) => [name, [...interfaces.keys()].toSorted()]),
  waiting: [...sim.state.nodes.values()].flatMap(({ name, pendingInterfaces }) =>
    pendingInterfaces === undefined ? [] : [name],
  ),
  onNodes: [...sim.state.nodes.values()].map(({ name, vnets }) => [name, [...vnets].toSorted()]),
  vnets: [...sim.state.sdn.config.vnets.keys()].toSorted(),
  running: [...sim.state.sdn.running.vnets.keys()].toSorted(),
  zones: [...sim.state.sdn.config.zones.keys()],
  rights: [...sim.state.access.acl.keys()].filter((path) => path.startsWith("/sdn")).toSorted(),
  recorded: store.migrationRecord !== undefined,
  hosts: [...sim.state.nodes.values()].map(({ name, host: { files, routes }, interfaces }) => [
    name,
    interfaces.get("vmbr1000")?.["cidr"],
    [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    [...routes].toSorted(([a], [b]) => (a < b ? -1 : 1)),
  ]),
})

/** Everything that a process leaves when it dies. */
export const outlives = ({ sim, store, clock }: MigrationLab) => [store, sim.state, clock.now()]

/** Ranges whose router, or whose machines behind it, the gateway does not reach now. */
export const outOfReach = ({ sim, ranges, gateway = "" }: MigrationLab): readonly number[] =>
  Array.from({ length: ranges }, (_, at) => at + 1).filter((range) =>
    [`192.0.2.${100 + range}`, `10.${range}.10.5`].some(
      (address) => !sim.reachesHost(gateway, machinesOf(range)[0]!.vmid, address),
    ),
  )

/** Pairs of machines of one range that share a VLAN and do not reach each other; each router with a machine of its VLAN. */
export const unreachable = ({ sim, ranges }: MigrationLab): readonly string[] =>
  Array.from({ length: ranges }, (_, at) => machinesOf(at + 1).map(({ vmid }) => vmid)).flatMap(([router = 0, ...others]) =>
    others.filter((vmid) => !sim.reaches(router, vmid)).map((vmid) => `${router} and ${vmid}`),
  )
