import type { Duplex } from "node:stream"
import { watchJobs } from "./api/backups.ts"
import { routes } from "./api/routes.ts"
import { createRealClock, settable, type SimClock } from "./core/clock.ts"
import { initialState, seededSecret } from "./core/initial.ts"
import { halt, restoreState, saveState } from "./core/snapshot.ts"
import { prepareZone } from "./core/prepared-zone.ts"
import type { Guest, State } from "./core/state.ts"
import { shippedTemplates, type TemplateSpec } from "./core/template-names.ts"
import { buildTemplates } from "./core/templates.ts"
import { timingWith, type Timing } from "./core/timing.ts"
import type { Trace } from "./core/trace.ts"
import { createWorld, type World } from "./core/world.ts"
import { makeManager } from "./ha/manager.ts"
import { watchNodes } from "./ha/absence.ts"
import { CallLog } from "./faults/calls.ts"
import { FaultPlan } from "./faults/plan.ts"
import { keepCertificate, makeCertificate } from "./http/certificate.ts"
import type { GuestBacking } from "./guest/backing.ts"
import { reaches, reachesHost } from "./guest/reach.ts"
import { control, type Controlled } from "./http/control.ts"
import { handle, type Api } from "./http/handle.ts"
import type { SimRequest, SimResponse } from "./http/message.ts"
import { connector, listen, type Listener, type Served } from "./http/server.ts"
import type { OpenConsole } from "./http/websocket.ts"
import type { Screens } from "./screen/qemu.ts"
import { newScreen, type Screen } from "./screen/screen.ts"
import { runNodeCommand } from "./ssh/commands.ts"
import type { CommandResult } from "./ssh/network-commands.ts"
import { listenSsh, type SshListener, type SshOptions } from "./ssh/server.ts"

/** Options of a simulator; everything has a default. */
export interface SimulatorOptions {
  /** Number of nodes, or their names. One node is called `pve`, several `pve1`, `pve2`, … Default 1. */
  readonly nodes?: number | readonly string[]
  /** The same seed gives the same identifiers, MAC addresses and secrets. Default 1. */
  readonly seed?: number
  /** How many times as fast as real time the clock runs. Default 1; ignored with `clock`. */
  readonly speed?: number
  /** Another source of time. With a manual clock, time passes only when it is advanced. */
  readonly clock?: SimClock
  /** The templates in pool SHARED. Default: the shipped set. */
  readonly templates?: readonly TemplateSpec[]
  /** The VMID of the first template. Default 100. */
  readonly firstTemplateVmid?: number
  /** Durations of the timing model that differ from the default. */
  readonly timing?: Partial<Timing>
  /** The password of root@pam. Default: derived from the seed. */
  readonly rootPassword?: string
  /** Name of a VXLAN zone over all nodes that is created and applied, with the NAT network's VNet. Default: no SDN at all. */
  readonly sdnZone?: string | undefined
  /** Processor threads of a node. Default 64. */
  readonly cores?: number
  /** GiB of memory of a node. Default 512. */
  readonly memoryGib?: number
  /** Real hosts for Linux guests, such as `realGuests`. Default: guests are only simulated. */
  readonly backing?: GuestBacking
  /** Provider of guest screens, such as `qemuScreens`. Default: the simulator's own small picture. */
  readonly screens?: Screens
}

/** Where and how the REST API listens. */
export interface ListenOptions {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** 0 (default): any free port. */
  readonly port?: number
  /** Default true: a self-signed certificate, whose fingerprint is in the listener. */
  readonly tls?: boolean
  /** File that keeps the certificate across restarts. Default: a new one each time. */
  readonly certificateFile?: string | undefined
}

/** A listening socket of the REST API. */
export interface HttpListener extends Listener {
  readonly url: string
  /** SHA-256 fingerprint of the certificate, with colons; undefined without TLS. */
  readonly fingerprint: string | undefined
}

/** A running simulator. */
export interface Simulator {
  /** The whole REST API and the control API as one function, without a socket. */
  readonly handle: (request: SimRequest) => Promise<SimResponse>
  /** Opens a plain HTTP connection to the REST API without a network, for the web sockets of consoles. */
  readonly connect: () => Duplex
  /** The text typed into a guest's console since the guest was turned on. */
  readonly typed: (vmid: number) => string
  readonly clock: SimClock
  /** The current state; only for reading. */
  readonly state: State
  readonly guest: (vmid: number) => Guest | undefined
  /** Whether two running guests are on the same layer-2 network now. */
  readonly reaches: (from: number, to: number) => boolean
  /** Whether a node's own address and a guest with this address can reach each other now. */
  readonly reachesHost: (node: string, vmid: number, address: string) => boolean
  /** Runs a command on a node, as over SSH. */
  readonly command: (node: string, words: readonly string[], input?: string) => Promise<CommandResult>
  readonly faults: FaultPlan
  readonly calls: CallLog
  readonly trace: Trace
  /** The token of root@pam, `root@pam!simulator=…`, to put after `PVEAPIToken=`. */
  readonly rootToken: string
  readonly rootPassword: string
  /** The token for the control API `/simulator/…`. */
  readonly controlToken: string
  /** The whole state as text. */
  readonly save: () => string
  /**
   * Restores a saved state: running tasks are cut off, missing templates are created. Throws, changing nothing, if the text is not a state.
   */
  readonly restore: (text: string) => void
  /** Begins again with the initial state of the same seed. */
  readonly reset: () => void
  readonly listen: (options?: ListenOptions) => Promise<HttpListener>
  readonly ssh: (options?: SshOptions) => Promise<SshListener>
  /** Closes all sockets and stops everything that runs. */
  readonly close: () => Promise<void>
}

const freshState = (
  options: SimulatorOptions,
  seed: number,
  now: number,
  rootPassword: string,
  rootTokenSecret: string,
): State => {
  const state = initialState({
    nodes: options.nodes ?? 1,
    seed,
    now,
    rootPassword,
    rootTokenSecret,
    cores: options.cores ?? 64,
    memoryGib: options.memoryGib ?? 512,
  })
  if (options.sdnZone !== undefined) prepareZone(state, options.sdnZone)
  return state
}

/** The screen of a running guest. */
const screenOf = (world: World, vmid: number): Screen => {
  const there = world.pictures.get(vmid)
  if (there !== undefined) return there
  const screen = newScreen(`${vmid} ${String(world.state.guests.get(vmid)?.config["name"] ?? "")}`.trim())
  world.pictures.set(vmid, screen)
  return screen
}

const servedBy = (world: World, serve: Simulator["handle"]): Served => {
  const onConsole = (port: number): OpenConsole | undefined => {
    const held = world.consoles.get(port)
    if (held === undefined) return undefined
    const { vmid } = held
    // the proxy exists, but finds no QEMU to connect to
    if (vmid !== undefined && world.state.guests.get(vmid)?.status !== "running") return undefined
    held.viewer = "here"
    // only one connection is accepted; then the port is free for the next console
    world.consoles.delete(port)
    const onClose = () => void (held.viewer = "gone")
    if (vmid === undefined) return { ...held, screen: newScreen(held.node), onClose }
    const { screens } = world
    const attach = screens === undefined ? undefined : () => screens.open(vmid, held.password)
    return { ...held, screen: screenOf(world, vmid), attach, onClose }
  }
  return { handle: serve, onConsole, clock: world.clock }
}

const openHttp = async (world: World, serve: Simulator["handle"], options: ListenOptions): Promise<HttpListener> => {
  const host = options.host ?? "127.0.0.1"
  const secure = options.tls ?? true
  const make = () => makeCertificate([...world.state.nodes.keys(), "localhost"], ["127.0.0.1"])
  const kept = options.certificateFile
  const certificate = secure ? await (kept === undefined ? make() : keepCertificate(kept, make)) : undefined
  world.fingerprint = certificate?.fingerprint ?? ""
  world.certificate = certificate?.cert ?? ""
  const listener = await listen({ ...servedBy(world, serve), host, port: options.port ?? 0, certificate })
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host
  return { ...listener, fingerprint: certificate?.fingerprint, url: `${secure ? "https" : "http"}://${name}:${listener.port}` }
}

/** Creates a simulator. It opens no socket until `listen` or `ssh` is called. */
export const createSimulator = (options: SimulatorOptions = {}): Simulator => {
  const seed = options.seed ?? 1
  const given = options.clock ?? createRealClock({ speed: options.speed ?? 1 })
  const clock = settable(given)
  const rootPassword = options.rootPassword ?? seededSecret(seed, "password")
  const rootTokenSecret = seededSecret(seed, "token")
  const fresh = () => freshState(options, seed, clock.now(), rootPassword, rootTokenSecret)
  const build = () => buildTemplates(world, options.templates ?? shippedTemplates, options.firstTemplateVmid ?? 100)
  const world = createWorld({
    state: fresh(),
    clock,
    timing: timingWith(options.timing),
    faults: new FaultPlan(),
    backing: options.backing,
    screens: options.screens,
  })
  build()
  world.wakeManager = makeManager(world)
  world.wakeJobs = watchJobs(world)
  world.faults.onChange(watchNodes(world))
  const root = world.state.access.users.get("root@pam")!
  const api: Api = { world, routes, calls: new CallLog() }
  const reset = () => {
    halt(world)
    world.state = fresh()
    world.rights.version = -1
    world.faults.clear()
    world.inFlight.clear()
    world.workers.clear()
    api.calls.clear()
    build()
    world.wakeJobs()
  }
  const controlled: Controlled = {
    world,
    calls: api.calls,
    clock: given,
    controlToken: seededSecret(seed, "control"),
    snapshots: new Map(),
    reset,
  }
  const serve: Simulator["handle"] = (request) =>
    /^\/simulator(?:\/|$)/.test(request.path) ? Promise.resolve(control(controlled, request)) : handle(api, request)
  const open = new Set<{ readonly close: () => Promise<void> }>()
  const keep = <L extends { readonly close: () => Promise<void> }>(listener: L): L => (open.add(listener), listener)
  return {
    handle: serve,
    connect: connector(servedBy(world, serve)),
    typed: (vmid) => world.pictures.get(vmid)?.typed ?? "",
    clock,
    get state() {
      return world.state
    },
    guest: (vmid) => world.state.guests.get(vmid),
    reaches: (from, to) => reaches(world, from, to),
    reachesHost: (node, vmid, address) => reachesHost(world, node, vmid, address),
    command: async (name, words, input) => {
      const node = world.state.nodes.get(name)
      if (node === undefined || world.faults.isNodeDown(name)) throw new Error(`no route to ${name}`)
      return runNodeCommand(api, node, words, input)
    },
    faults: world.faults,
    calls: api.calls,
    trace: world.trace,
    rootToken: `root@pam!simulator=${rootTokenSecret}`,
    rootPassword,
    controlToken: controlled.controlToken,
    save: () => saveState(world),
    restore: (text) => {
      restoreState(world, text)
      build()
      // whoever starts a simulator knows its own secrets, not those of the one that saved the state
      world.state.access.users.set("root@pam", {
        ...root,
        tokens: new Map([...(world.state.access.users.get("root@pam")?.tokens ?? []), ...root.tokens]),
      })
    },
    reset,
    listen: async (listenOptions = {}) => keep(await openHttp(world, serve, listenOptions)),
    ssh: async (sshOptions = {}) => keep(await listenSsh(api, rootPassword, sshOptions)),
    close: async () => {
      await Promise.all([...open].map((listener) => listener.close()))
      halt(world)
      world.screens?.close()
    },
  }
}
