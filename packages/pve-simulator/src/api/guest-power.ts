import { applyPending } from "../core/drives.ts"
import { failure } from "../core/errors.ts"
import { hasAgent, isCdrom, isDisk, lockOf, memoryMb, type Nic, nicsOf, ownDisks, touch, volumeOf } from "../core/guest-config.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Guest, NodeState, StorageState } from "../core/state.ts"
import { stopTask, type TaskHandle } from "../core/tasks.ts"
import { darken, type World } from "../core/world.ts"
import { agentAnswers, beginBoot, powerOff, wake } from "../guest/boot.ts"
import {
  findGuest,
  flag,
  guestOf,
  optionalNumber,
  optionalText,
  spawn,
  text,
  vmidOf,
  type Call,
  type Routes,
} from "../http/call.ts"
import { demand, may } from "../http/permissions.ts"
import { allocate, findVolume, removeVolume, storageOf, usableStorage } from "../core/volumes.ts"
import { isManaged, requestState } from "../ha/resources.ts"
import { needCpuModel } from "./cpu-models.ts"
import { withConfig, refuseSkiplock, refuseLocked } from "./guest-locks.ts"

/** Whether a bridge of that name exists on the node: a configured interface or an applied VNet. */
const hasBridge = (node: NodeState, bridge: string): boolean => {
  const iface = node.interfaces.get(bridge)
  return node.vnets.has(bridge) || (iface !== undefined && ["bridge", "OVSBridge"].includes(String(iface["type"])))
}

/** Physical ports of a bridge. */
const physical = /^(?:(?:eth|bond)\d+|en[^.]+)(?:\.\d+)?$/u

/** Why a card cannot be plugged in, with the exit status of the network script. */
export interface PlugProblem {
  readonly text: string
  readonly status: number
}

/**
 * Why a card cannot be plugged in on the node; undefined if it can. A card with a tag needs a VLAN-aware bridge: for any other bridge, the
 * node creates a VLAN interface on the physical port, which may not exist.
 */
export const plugProblem = (node: NodeState, { bridge, tag }: Pick<Nic, "bridge" | "tag">): PlugProblem | undefined => {
  if (bridge === undefined) return undefined
  if (!hasBridge(node, bridge)) return { text: `bridge '${bridge}' does not exist`, status: 512 }
  const iface = node.interfaces.get(bridge)
  if (tag === undefined || iface?.["type"] !== "bridge" || Number(iface["bridge_vlan_aware"] ?? 0) === 1) return undefined
  const ports = String(iface["bridge_ports"] ?? "").split(/\s+/u)
  const leads = ports.some((port) => physical.test(port))
  return leads ? undefined : { text: `no physical interface on bridge '${bridge}'`, status: 65_280 }
}

/** The volumes in the disc drives. */
const cdroms = ({ config, pending }: Guest): readonly string[] =>
  Object.entries({ ...config, ...pending })
    .filter(([key, value]) => isDisk(key) && value !== undefined && isCdrom(String(value)))
    .map(([, value]) => volumeOf(String(value)))
    .filter((volume) => volume.includes(":"))

/** The options that a hibernating guest has in its configuration. */
const hibernation = ["lock", "vmstate", "runningmachine", "runningcpu"]

/** The machine type of new guests. */
export const machineType = "pc-i440fx-10.1+pve0"

const runningCpu = "kvm64,enforce,+kvm_pv_eoi,+kvm_pv_unhalt,+lahf_lm,+sep"

/** Whether a guest hibernates: its memory is on disk and it is off. */
const isHibernated = (guest: Guest): boolean => lockOf(guest.config) === "suspended"

/** Turns a guest on: pending changes take effect, then the system boots. */
export const powerOn = (world: World, guest: Guest): void => {
  const node = world.state.nodes.get(guest.node)!
  for (const nic of nicsOf(guest.config)) {
    const problem = plugProblem(node, nic)
    if (problem !== undefined) throw failure(problem.text)
  }
  const absent = cdroms(guest).find((volume) => findVolume(world, guest.node, volume) === undefined)
  if (absent !== undefined) throw failure(`volume '${absent}' does not exist`)
  needCpuModel(world, "cpu" in guest.pending ? guest.pending["cpu"] : guest.config["cpu"])
  touch(world, guest)
  applyPending(world, guest)
  guest.status = "running"
  guest.paused = false
  guest.pid = world.state.nextPid++
  guest.startedAt = world.clock.now()
  delete guest.clockBehind
  beginBoot(world, guest)
}

/** Turns a guest off. */
export const turnOff = (world: World, guest: Guest): void => {
  touch(world, guest)
  powerOff(world, guest)
  darken(world, guest.vmid)
  guest.status = "stopped"
  guest.paused = false
  guest.frozen = false
  guest.pid = undefined
  guest.startedAt = undefined
  for (const { index } of nicsOf(guest.config)) world.unplugged.delete(`${guest.vmid} net${index}`)
  applyPending(world, guest)
}

/** Starts a guest that is off, after all checks; a hibernating guest continues where it was. */
export function* turnOnStopped(world: World, guest: Guest): Routine<void> {
  yield* sleep(world.clock, world.timing.startTask)
  const hibernated = isHibernated(guest)
  powerOn(world, guest)
  if (!hibernated) return
  wake(world, guest)
  removeVolume(world, guest.node, String(guest.config["vmstate"]))
  for (const key of hibernation) delete guest.config[key]
}

/** For guests under high availability, a call only sets the requested state; the manager acts later. */
const askManager = (call: Call, type: string, state: "started" | "stopped"): string =>
  spawn(call, type, vmidOf(call), function* (): Routine<void> {
    yield* sleep(call.world.clock, call.world.timing.configTask)
    requestState(call.world, vmidOf(call), state)
  })

const start = (call: Call): string => {
  refuseSkiplock(call)
  const { world } = call
  if (isManaged(world, vmidOf(call))) return askManager(call, "hastart", "started")
  return spawn(call, "qmstart", vmidOf(call), () =>
    withConfig(world, vmidOf(call), function* (): Routine<void> {
      const guest = guestOf(call)
      if (!isHibernated(guest)) refuseLocked(call, guest)
      if (guest.config["template"] === 1) throw failure("you can't start a vm if it's a template")
      if (guest.status === "running") throw failure(`VM ${guest.vmid} already running`)
      yield* turnOnStopped(world, guest)
    }),
  )
}

/** Ends the shutdowns of a VM that its caller began, or may end. */
const endShutdowns = (call: Call, task: TaskHandle): void => {
  const { world, identity } = call
  for (const upid of world.running.keys()) {
    const other = world.state.tasks.get(upid)
    if (other?.type !== "qmshutdown" || other.id !== String(vmidOf(call))) continue
    if (other.user !== identity.user && !may(world, identity, `/nodes/${other.node}`, ["Sys.Modify"])) continue
    stopTask(world, upid)
    task.log(`overruled qmshutdown task ${upid}`)
  }
}

const stop = (call: Call): string => {
  refuseSkiplock(call)
  const { world } = call
  if (isManaged(world, vmidOf(call))) return askManager(call, "hastop", "stopped")
  return spawn(call, "qmstop", vmidOf(call), (task) => {
    if (flag(call, "overrule-shutdown")) endShutdowns(call, task)
    return withConfig(world, vmidOf(call), function* (): Routine<void> {
      const guest = guestOf(call)
      if (guest.status === "stopped") return
      refuseLocked(call, guest)
      yield* sleep(world.clock, world.timing.stopTask)
      turnOff(world, guest)
    })
  })
}

/** How long the system in a guest needs to shut down; undefined if it does not react. */
const shutdownTime = (world: World, guest: Guest): number | undefined => {
  if (guest.boot.kind !== "up") return undefined
  if (hasAgent(guest.config) && !agentAnswers(world, guest)) return undefined
  return guest.os?.family === "windows" ? world.timing.shutdownWindows : world.timing.shutdownLinux
}

/** Waits until the system is down; at the time limit it fails, or turns the guest off. */
export function* shutDown(world: World, guest: Guest, limitMs: number, force: boolean): Routine<void> {
  const asked = world.clock.now()
  for (;;) {
    const needed = shutdownTime(world, guest)
    const left = asked + limitMs - world.clock.now()
    if (needed !== undefined && needed <= left) {
      yield* sleep(world.clock, needed)
      return turnOff(world, guest)
    }
    const boot = guest.boot
    const wait = boot.kind === "booting" ? Math.max(1, boot.until - world.clock.now()) : left
    yield* sleep(world.clock, Math.min(wait, Math.max(0, left)))
    if (world.clock.now() < asked + limitMs) continue
    if (!force) throw failure("VM quit/powerdown failed - got timeout")
    yield* sleep(world.clock, world.timing.stopTask)
    return turnOff(world, guest)
  }
}

const timeoutOf = (call: Call): number => {
  const seconds = optionalNumber(call, "timeout")
  return seconds === undefined ? call.world.timing.shutdownTimeout : seconds * 1000
}

const shutdown = (call: Call): string => {
  refuseSkiplock(call)
  const { world } = call
  if (isManaged(world, vmidOf(call))) return askManager(call, "hastop", "stopped")
  // a paused system does not react
  const mustStop = findGuest(call)?.paused === true
  if (mustStop && !flag(call, "forceStop")) throw failure("VM is paused - cannot shutdown")
  return spawn(call, "qmshutdown", vmidOf(call), () =>
    withConfig(world, vmidOf(call), function* (): Routine<void> {
      const guest = guestOf(call)
      if (guest.status === "stopped") return
      refuseLocked(call, guest)
      yield* shutDown(world, guest, mustStop ? 0 : timeoutOf(call), flag(call, "forceStop"))
    }),
  )
}

/** The guest of a call that needs it to run. */
const runningGuest = (call: Call): Guest => {
  const guest = findGuest(call)
  if (guest === undefined)
    throw failure(`unable to find configuration file for VM ${vmidOf(call)} on node '${text(call, "node")}'`)
  if (guest.status !== "running") throw failure(`VM ${guest.vmid} not running`)
  return guest
}

const reset = (call: Call): string => {
  refuseSkiplock(call)
  const { world } = call
  runningGuest(call)
  return spawn(call, "qmreset", vmidOf(call), () =>
    withConfig(world, vmidOf(call), function* (): Routine<void> {
      const guest = guestOf(call)
      refuseLocked(call, guest)
      yield* sleep(world.clock, world.timing.stopTask)
      powerOff(world, guest)
      beginBoot(world, guest)
    }),
  )
}

const reboot = (call: Call): string => {
  const { world } = call
  if (runningGuest(call).paused === true) throw failure("VM is paused - cannot shutdown")
  return spawn(call, "qmreboot", vmidOf(call), () =>
    withConfig(world, vmidOf(call), function* (): Routine<void> {
      const guest = guestOf(call)
      refuseLocked(call, guest)
      yield* shutDown(world, guest, timeoutOf(call), false)
      powerOn(world, guest)
    }),
  )
}

const suspend = (call: Call): string => {
  refuseSkiplock(call)
  const { world } = call
  const toDisk = flag(call, "todisk")
  if (toDisk) demand(world, call.identity, `/vms/${vmidOf(call)}`, ["VM.Config.Disk"])
  const running = runningGuest(call)
  const storage = toDisk ? storageOfState(call, running) : undefined
  return spawn(call, "qmsuspend", vmidOf(call), () =>
    withConfig(world, vmidOf(call), function* (): Routine<void> {
      const guest = guestOf(call)
      refuseLocked(call, guest)
      if (guest.status !== "running") throw failure(`VM ${guest.vmid} not running`)
      if (storage !== undefined) return yield* hibernate(world, guest, storage)
      yield* sleep(world.clock, world.timing.stopTask)
      touch(world, guest)
      guest.paused = true
    }),
  )
}

/** The storage for the memory of a hibernating guest: the requested one, the configured one, or that of its first disk. */
const storageOfState = (call: Call, guest: Guest): StorageState => {
  const { world } = call
  const [, disk] = ownDisks(guest.config).find(([, each]) => !isCdrom(each)) ?? ["", "local:"]
  const id = optionalText(call, "statestorage") ?? guest.config["vmstatestorage"] ?? storageOf(volumeOf(disk))
  demand(world, call.identity, `/storage/${String(id)}`, ["Datastore.AllocateSpace"])
  return usableStorage(world, String(id), guest.node)
}

/** Saves a guest's memory to disk and turns it off. */
function* hibernate(world: World, guest: Guest, storage: StorageState): Routine<void> {
  const bytes = memoryMb(guest.config) * 1024 ** 2
  const purpose = `state-suspend-${new Date(world.clock.now()).toISOString().slice(0, 10)}`
  const wanted = { storage, node: guest.node, vmid: guest.vmid, sizeBytes: bytes, usedBytes: bytes, format: "raw", purpose }
  const { volid } = allocate(world, wanted)
  touch(world, guest)
  Object.assign(guest.config, { lock: "suspending", vmstate: volid })
  try {
    yield* sleep(world.clock, world.timing.stopTask + bytes / world.timing.memoryBytesPerMs)
  } catch (error) {
    for (const key of hibernation) delete guest.config[key]
    removeVolume(world, guest.node, volid)
    throw error
  }
  turnOff(world, guest)
  Object.assign(guest.config, { lock: "suspended", runningmachine: machineType, runningcpu: runningCpu })
}

const resume = (call: Call): string => {
  refuseSkiplock(call)
  const { world } = call
  const known = findGuest(call)
  if (known === undefined || !isHibernated(known)) runningGuest(call)
  return spawn(call, "qmresume", vmidOf(call), () =>
    withConfig(world, vmidOf(call), function* (): Routine<void> {
      const guest = guestOf(call)
      if (isHibernated(guest)) return yield* turnOnStopped(world, guest)
      refuseLocked(call, guest)
      yield* sleep(world.clock, world.timing.configTask)
      touch(world, guest)
      guest.paused = false
    }),
  )
}

/** Power of one VM. */
export const guestPowerRoutes: Routes = {
  "POST /nodes/{node}/qemu/{vmid}/status/start": start,
  "POST /nodes/{node}/qemu/{vmid}/status/stop": stop,
  "POST /nodes/{node}/qemu/{vmid}/status/shutdown": shutdown,
  "POST /nodes/{node}/qemu/{vmid}/status/reset": reset,
  "POST /nodes/{node}/qemu/{vmid}/status/reboot": reboot,
  "POST /nodes/{node}/qemu/{vmid}/status/suspend": suspend,
  "POST /nodes/{node}/qemu/{vmid}/status/resume": resume,
}
