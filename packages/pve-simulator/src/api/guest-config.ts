import { badParameter, failure } from "../core/errors.ts"
import {
  defaultBoot,
  digestOf,
  isCdrom,
  isCloudInit,
  isDisk,
  isNet,
  lockOf,
  normaliseNic,
  normaliseTags,
  ownDisks,
  parseNic,
  parsePairs,
  touch,
  volumeOf,
} from "../core/guest-config.ts"
import { randomUuid } from "../core/random.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Config, Guest } from "../core/state.ts"
import type { TaskHandle } from "../core/tasks.ts"
import {
  allocate,
  defaultFormat,
  findVolume,
  formatSize,
  removeVolume,
  storageLock,
  storageLockFailure,
  storageNamed,
  storageOf,
  usableStorage,
} from "../core/volumes.ts"
import { nowSeconds, type World } from "../core/world.ts"
import { flag, guestOf, optionalText, spawn, text, vmidOf, type Call, type Routes } from "../http/call.ts"
import { demand } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { guestOptions } from "../schema/schema.ts"

/** Options that only root@pam itself may set. */
const rootOnly = new Set(["args", "lock", "hookscript", "affinity"])

const privilegeOf = (key: string): string => {
  if (isDisk(key) || /^(unused\d+|boot|bootdisk|scsihw)$/.test(key)) return "VM.Config.Disk"
  if (isNet(key) || /^(ipconfig\d+|nameserver|searchdomain)$/.test(key)) return "VM.Config.Network"
  if (/^(cores|sockets|vcpus|cpu|cpulimit|cpuunits|numa\d*)$/.test(key)) return "VM.Config.CPU"
  if (/^(memory|balloon|shares)$/.test(key)) return "VM.Config.Memory"
  if (/^(cicustom|cipassword|citype|ciuser|ciupgrade|sshkeys)$/.test(key)) return "VM.Config.Cloudinit"
  if (/^(acpi|bios|machine|vga|tablet|audio0|hostpci\d+|usb\d+|serial\d+|parallel\d+|watchdog|rng0|arch|kvm)$/.test(key))
    return "VM.Config.HWType"
  return "VM.Config.Options"
}

/** The options among the parameters of a call. */
const optionsIn = (call: Call): Config => {
  const out: Config = {}
  for (const [key, value] of Object.entries(call.parameters)) {
    if (guestOptions.has(key)) out[key] = value as string | number
  }
  return out
}

/** The rights on each option, on the storages of new disks and on the bridges of network devices. */
const checkOptions = (call: Call, vmid: number, changes: Config, removed: readonly string[]): void => {
  const { world, identity } = call
  for (const key of [...Object.keys(changes), ...removed]) {
    if (!identity.isRoot && rootOnly.has(key)) throw failure(`only root can set '${key}' config`)
    if (/^hostpci\d+$/.test(key) && !identity.isRoot && !String(changes[key]).includes("mapping="))
      throw failure(`only root can set '${key}' config for non-mapped devices`)
    const value = changes[key]
    const cdrom = isDisk(key) && value !== undefined && isCdrom(String(value))
    demand(world, identity, `/vms/${vmid}`, [cdrom ? "VM.Config.CDROM" : privilegeOf(key)])
    if (value === undefined) continue
    if (isDisk(key)) checkDisk(call, String(value))
    if (isNet(key)) checkBridge(call, String(value))
  }
}

const checkDisk = (call: Call, disk: string): void => {
  const volume = volumeOf(disk)
  if (volume === "none" || volume === "cdrom" || volume.startsWith("/")) return
  const id = storageOf(volume)
  storageNamed(call.world, id)
  if (newDisk(disk) !== undefined) demand(call.world, call.identity, `/storage/${id}`, ["Datastore.AllocateSpace"])
}

/** A bridge of a node is a VNet of the zone `localnetwork` for the access list; an SDN VNet belongs to its own zone. */
const checkBridge = (call: Call, text: string): void => {
  const nic = parseNic(0, text)
  if (nic.bridge === undefined) return
  const zone = call.world.state.sdn.config.vnets.get(nic.bridge)?.["zone"] ?? "localnetwork"
  const path = `/sdn/zones/${zone}/${nic.bridge}${nic.tag === undefined ? "" : `/${nic.tag}`}`
  demand(call.world, call.identity, path, ["SDN.Use"])
}

/** A disk that is to be made: `storage:GiB` or `storage:cloudinit`. */
const newDisk = (disk: string): { readonly storage: string; readonly gib: number | "cloudinit" } | undefined => {
  const parts = /^([^:]+):(cloudinit|\d+(?:\.\d+)?)$/.exec(volumeOf(disk))
  if (parts === null) return undefined
  return { storage: parts[1]!, gib: parts[2] === "cloudinit" ? "cloudinit" : Number(parts[2]) }
}

const CLOUDINIT_BYTES = 4 * 1024 * 1024

/** Makes the disks among the changes and stores them as volumes. */
function* makeDisks(
  world: World,
  guest: { node: string; vmid: number },
  changes: Config,
  log: (line: string) => void,
): Routine<Config> {
  const out: Config = { ...changes }
  for (const key of Object.keys(changes).filter(isDisk)) {
    const disk = String(changes[key])
    const wanted = newDisk(disk)
    if (wanted === undefined) {
      const volume = volumeOf(disk)
      if (volume.includes(":") && !isCdrom(disk)) out[key] = withSize(world, guest.node, disk)
      continue
    }
    const storage = usableStorage(world, wanted.storage, guest.node)
    const format = parsePairs(disk).get("format") ?? defaultFormat(storage)
    const cloudinit = wanted.gib === "cloudinit"
    const sizeBytes = wanted.gib === "cloudinit" ? CLOUDINIT_BYTES : Math.round(wanted.gib * 1024 ** 3)
    const volume = yield* world.locks.exclusive(
      storageLock(storage, guest.node),
      world.timing.storageLock,
      () => storageLockFailure(storage),
      function* (): Routine<ReturnType<typeof allocate>> {
        yield* sleep(world.clock, world.timing.configTask)
        return allocate(world, {
          storage,
          node: guest.node,
          vmid: guest.vmid,
          sizeBytes,
          usedBytes: 0,
          format,
          purpose: cloudinit ? "cloudinit" : "disk",
        })
      },
    )
    const rest = disk
      .split(",")
      .slice(1)
      .filter((part) => !/^(format|size|file|import-from)=/.test(part))
    out[key] = [
      volume.volid,
      ...(cloudinit ? ["media=cdrom"] : rest),
      ...(cloudinit ? [] : [`size=${formatSize(sizeBytes)}`]),
    ].join(",")
    if (!cloudinit) log(`${key}: successfully created disk '${volume.volid},size=${formatSize(sizeBytes)}'`)
  }
  return out
}

const withSize = (world: World, node: string, disk: string): string => {
  const volume = findVolume(world, node, volumeOf(disk))
  if (volume === undefined) throw failure(`volume '${volumeOf(disk)}' does not exist`)
  return /(^|,)size=/.test(disk) ? disk : `${disk},size=${formatSize(volume.sizeBytes)}`
}

/** Values as the configuration file keeps them. */
const normalise = (world: World, changes: Config): Config => {
  const out: Config = {}
  for (const [key, value] of Object.entries(changes)) {
    if (isNet(key)) out[key] = normaliseNic(world, String(value))
    else if (key === "tags") out[key] = normaliseTags(String(value))
    else out[key] = value
  }
  if (out["tags"] === "") delete out["tags"]
  return out
}

/** Options a running guest takes at once; all others wait for its next start. */
const hotOptions =
  /^(name|description|tags|onboot|protection|startup|hotplug|autostart|lock|boot|template|cipassword|ciuser|sshkeys|ipconfig\d+|nameserver|searchdomain|net\d+|(?:scsi|virtio|sata|ide)\d+|unused\d+|balloon)$/

interface Edit {
  readonly changes: Config
  readonly removed: readonly string[]
  readonly reverted: readonly string[]
}

const readEdit = (call: Call): Edit => {
  const removed = splitList(optionalText(call, "delete") ?? "")
  const reverted = splitList(optionalText(call, "revert") ?? "")
  const changes = optionsIn(call)
  if (removed.length === 0 && reverted.length === 0 && Object.keys(changes).length === 0) throw failure("no options specified")
  for (const key of removed) if (!guestOptions.has(key)) throw badParameter({ delete: `unknown option '${key}'` })
  for (const key of reverted) if (!guestOptions.has(key)) throw badParameter({ revert: `unknown option '${key}'` })
  for (const key of removed)
    if (changes[key] !== undefined) throw badParameter({ delete: `you can't use '-${key}' and -delete ${key}' at the same time` })
  checkOptions(call, vmidOf(call), changes, removed)
  return { changes, removed, reverted }
}

/** The checks on the guest itself, made under its lock. */
const checkEditable = (call: Call, guest: Guest): void => {
  const digest = optionalText(call, "digest")
  if (digest !== undefined && digest !== digestOf(guest)) throw failure("checksum mismatch (file change by other user?)")
  const lock = lockOf(guest.config)
  if (lock !== undefined && !flag(call, "skiplock")) throw failure(`VM is locked (${lock})`)
}

function* applyEdit(call: Call, guest: Guest, edit: Edit, log: (line: string) => void): Routine<void> {
  const { world } = call
  const made = yield* makeDisks(world, guest, edit.changes, log)
  const values = normalise(world, made)
  touch(world, guest)
  for (const key of edit.reverted) delete guest.pending[key]
  for (const key of edit.removed) {
    const now = guest.status === "stopped" || hotOptions.test(key)
    if (now) removeOption(world, guest, key)
    else if (guest.config[key] !== undefined) guest.pending[key] = undefined
  }
  for (const [key, value] of Object.entries(values)) {
    const old = guest.config[key]
    if (guest.status === "running" && !hotOptions.test(key)) {
      if (old === value) delete guest.pending[key]
      else guest.pending[key] = value
      continue
    }
    if (isDisk(key) && old !== undefined && volumeOf(String(old)) !== volumeOf(String(value))) replaceDisk(world, guest, key)
    guest.config[key] = value
    delete guest.pending[key]
  }
}

/** A disk that leaves its place stays as an unused one; a cloud-init drive goes for good. */
const replaceDisk = (world: World, guest: Guest, key: string): void => {
  const disk = String(guest.config[key])
  const volid = volumeOf(disk)
  if (findVolume(world, guest.node, volid) === undefined) return
  if (isCloudInit(disk)) return removeVolume(world, guest.node, volid)
  let n = 0
  while (guest.config[`unused${n}`] !== undefined) n += 1
  guest.config[`unused${n}`] = volid
}

const removeOption = (world: World, guest: Guest, key: string): void => {
  const value = guest.config[key]
  if (value === undefined) return
  if (isDisk(key)) replaceDisk(world, guest, key)
  if (/^unused\d+$/.test(key)) removeVolume(world, guest.node, volumeOf(String(value)))
  delete guest.config[key]
}

export const configLock = (vmid: number): string => `config ${vmid}`

/** What waiting too long for a configuration file says. */
export const configLockFailure = (vmid: number): Error =>
  failure(`can't lock file '/var/lock/qemu-server/lock-${vmid}.conf' - got timeout`)

/** Runs `body` alone on a guest's configuration file. */
export const withConfig = <A>(
  world: World,
  vmid: number,
  body: () => Routine<A>,
  timeoutMs = world.timing.configLock,
): Routine<A> => world.locks.exclusive(configLock(vmid), timeoutMs, () => configLockFailure(vmid), body)

const refuseSkiplock = (call: Call): void => {
  if (flag(call, "skiplock") && !call.identity.isRoot) throw badParameter({ skiplock: "Only root may use this option." })
}

/** PUT config: synchronous; waits for the lock and answers null. */
function* put(call: Call): Routine<null> {
  refuseSkiplock(call)
  const edit = readEdit(call)
  const vmid = vmidOf(call)
  yield* withConfig(call.world, vmid, function* (): Routine<void> {
    const guest = guestOf(call)
    checkEditable(call, guest)
    yield* applyEdit(call, guest, edit, () => undefined)
  })
  return null
}

/** POST config: the same in a task. */
function* post(call: Call): Routine<string> {
  refuseSkiplock(call)
  const edit = readEdit(call)
  const vmid = vmidOf(call)
  return yield* withConfig(call.world, vmid, function* (): Routine<string> {
    checkEditable(call, guestOf(call))
    return spawn(call, "qmconfig", vmid, (task) => configTask(call, edit, task))
  })
}

function* configTask(call: Call, edit: Edit, task: TaskHandle): Routine<void> {
  const { world } = call
  const shown = Object.entries(edit.changes).map(([key, value]) => `-${key} ${key === "cipassword" ? "<hidden>" : String(value)}`)
  task.log(
    `update VM ${vmidOf(call)}: ${[...shown, ...(edit.removed.length > 0 ? [`-delete ${edit.removed.join(",")}`] : [])].join(" ")}`,
  )
  yield* withConfig(world, vmidOf(call), function* (): Routine<void> {
    yield* sleep(world.clock, world.timing.configTask)
    const guest = guestOf(call)
    checkEditable(call, guest)
    yield* applyEdit(call, guest, edit, task.log)
  })
}

/** The identity of a new machine. */
export const newIdentity = (world: World): Config => ({
  smbios1: `uuid=${randomUuid(world.state.random)}`,
  vmgenid: randomUuid(world.state.random),
})

/** A guest with this configuration, stopped, unknown to the status daemon as yet. */
export const newGuest = (world: World, vmid: number, node: string, config: Config): Guest => ({
  vmid,
  node,
  config,
  pending: {},
  snapshots: new Map(),
  parent: undefined,
  status: "stopped",
  paused: false,
  pid: undefined,
  startedAt: undefined,
  boot: { kind: "off" },
  os: undefined,
  execs: new Map(),
  nextExec: 1000,
  changedAt: world.clock.now() + 1,
  reported: undefined,
})

/** Puts a guest into a pool that its creator named. */
export const joinPool = (world: World, pool: string | undefined, vmid: number): void => {
  if (pool === undefined) return
  world.state.pools.get(pool)?.vms.add(vmid)
  world.state.access.version += 1
}

const create = (call: Call): string => {
  const { world } = call
  const vmid = vmidOf(call)
  const node = text(call, "node")
  const pool = optionalText(call, "pool")
  const changes = optionsIn(call)
  checkOptions(call, vmid, changes, [])
  const existing = world.state.guests.get(vmid)
  if (existing !== undefined) throw failure(`unable to create VM ${vmid} - VM ${vmid} already exists on node '${existing.node}'`)
  return spawn(call, "qmcreate", vmid, (task) =>
    withConfig(
      world,
      vmid,
      function* (): Routine<void> {
        if (world.state.guests.has(vmid)) throw failure(`unable to create VM ${vmid}: config file already exists`)
        const guest = newGuest(world, vmid, node, { lock: "create" })
        world.state.guests.set(vmid, guest)
        try {
          yield* sleep(world.clock, world.timing.createTask)
          const made = yield* makeDisks(world, guest, changes, task.log)
          guest.config = {
            ...normalise(world, made),
            ...missingIdentity(world, made),
            meta: `creation-qemu=10.1.2,ctime=${nowSeconds(world)}`,
          }
          guest.config["boot"] ??= defaultBoot(guest.config)
        } catch (error) {
          for (const [, disk] of ownDisks(guest.config)) removeVolume(world, node, volumeOf(disk))
          world.state.guests.delete(vmid)
          throw error
        }
        joinPool(world, pool, vmid)
      },
      world.timing.createLock,
    ),
  )
}

const missingIdentity = (world: World, config: Config): Config => {
  const identity = newIdentity(world)
  return Object.fromEntries(Object.entries(identity).filter(([key]) => config[key] === undefined))
}

const unlink = (call: Call): Routine<null> => {
  const edit: Edit = { changes: {}, removed: splitList(text(call, "idlist")), reverted: [] }
  return withConfig(call.world, vmidOf(call), function* (): Routine<null> {
    const guest = guestOf(call)
    checkEditable(call, guest)
    yield* applyEdit(call, guest, edit, () => undefined)
    return null
  })
}

export const guestConfigRoutes: Routes = {
  "POST /nodes/{node}/qemu": create,
  "PUT /nodes/{node}/qemu/{vmid}/config": put,
  "POST /nodes/{node}/qemu/{vmid}/config": post,
  "PUT /nodes/{node}/qemu/{vmid}/unlink": unlink,
  "PUT /nodes/{node}/qemu/{vmid}/cloudinit": (call) => (guestOf(call), null),
}
