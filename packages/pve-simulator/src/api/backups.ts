import { nextTime, parseCalendar } from "../core/calendar.ts"
import { badParameter, failure } from "../core/errors.ts"
import { guestName, isCdrom, isDisk, lockOf, touch, volumeOf } from "../core/guest-config.ts"
import { markBackups } from "../core/prune.ts"
import { randomHex } from "../core/random.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { Backup, Config, Guest, StorageState, Volume } from "../core/state.ts"
import type { TaskHandle } from "../core/tasks.ts"
import { asText } from "../core/text.ts"
import { findVolume, removeVolume, storageNamed, usableStorage, volumesOn } from "../core/volumes.ts"
import { nowSeconds, type World } from "../core/world.ts"
import { flag, nodeOf, optionalNumber, optionalText, spawn, text, type Call, type Routes } from "../http/call.ts"
import { rootIdentity } from "../http/identity.ts"
import { demand, may } from "../http/permissions.ts"
import { splitList } from "../schema/formats.ts"
import { namedStrings } from "../schema/named-strings.ts"
import { parsePropertyString } from "../schema/validate.ts"
import { withConfig } from "./guest-locks.ts"
import { checkVolumeAccess } from "./volume-access.ts"
import { powerOn, shutDown } from "./guest-power.ts"

/** The disks of a guest that a backup includes: no discs, and no disk with `backup=0`. */
const diskEntries = ({ config }: Guest): [string, string][] =>
  Object.entries(config)
    .filter(([key, value]) => isDisk(key) && !isCdrom(String(value)))
    .map(([key, value]) => [key, String(value)])

const isLeftOut = (disk: string): boolean => /(?:^|,)backup=(?:0|no|off|false)(?:,|$)/u.test(disk)

const contentOf = (world: World, guest: Guest): Backup => ({
  config: structuredClone(Object.fromEntries(Object.entries(guest.config).filter(([key]) => key !== "lock"))),
  os: structuredClone(guest.os),
  disks: Object.fromEntries(
    diskEntries(guest)
      .filter(([, disk]) => !isLeftOut(disk))
      .flatMap(([key, disk]) => {
        const volume = findVolume(world, guest.node, volumeOf(disk))
        if (volume === undefined) return []
        const { sizeBytes, usedBytes, format } = volume
        return [[key, { sizeBytes, usedBytes, format }]]
      }),
  ),
})

const extensions: Readonly<Record<string, string>> = { gzip: ".gz", "1": ".lzo", lzo: ".lzo", zstd: ".zst" }

/** The guest and the time in a backup's volume name. */
const archiveName = (vmid: number, seconds: number, compress: string): string => {
  const time = new Date(seconds * 1000).toISOString().slice(0, 19).replaceAll("-", "_").replace("T", "-").replaceAll(":", "_")
  return `backup/vzdump-qemu-${vmid}-${time}.vma${extensions[compress] ?? ""}`
}

const keepRules = (value: string | undefined): Record<string, string> =>
  value === undefined ? {} : parsePropertyString(namedStrings["prune-backups"]!.format, value, "prune-backups")

/** The retention rules of the call, else those of the storage. */
const rulesOf = (call: Call, storage: StorageState): Record<string, string> => {
  const own = storage.options["prune-backups"]
  return keepRules(optionalText(call, "prune-backups") ?? (own === undefined ? undefined : String(own)))
}

const backupsOn = (storage: StorageState, node: string, vmid: number | undefined): Volume[] =>
  volumesOn(storage, node).filter((volume) => volume.backup !== undefined && (vmid === undefined || volume.vmid === vmid))

const marked = (call: Call, storage: StorageState, vmid: number | undefined) => {
  const all = backupsOn(storage, nodeOf(call).name, vmid)
  const rules = rulesOf(call, storage)
  return [...new Set(all.map((volume) => volume.vmid))].flatMap((owner) => [
    ...markBackups(
      all.filter((volume) => volume.vmid === owner),
      rules,
    ),
  ])
}

const describe = (template: string, guest: Guest): string =>
  template
    .replaceAll("{{guestname}}", guestName(guest))
    .replaceAll("{{vmid}}", String(guest.vmid))
    .replaceAll("{{node}}", guest.node)
    .replaceAll(String.raw`\n`, "\n")

function* backUp(call: Call, guest: Guest, storage: StorageState, task: TaskHandle): Routine<void> {
  const { world } = call
  // the configuration file is locked for a moment; the `lock` option stays until the backup is finished
  yield* withConfig(world, guest.vmid, function* (): Routine<void> {
    const lock = lockOf(guest.config)
    if (lock !== undefined) throw failure(`VM is locked (${lock})`)
    touch(world, guest)
    guest.config["lock"] = "backup"
    yield* sleep(world.clock, 0)
  })
  try {
    if (optionalText(call, "mode") === "stop" && guest.status === "running") {
      yield* shutDown(world, guest, world.timing.shutdownTimeout, true)
      powerOn(world, guest)
    }
    const backup = contentOf(world, guest)
    const bytes = Object.values(backup.disks).reduce((sum, { usedBytes }) => sum + usedBytes, 0)
    const name = archiveName(guest.vmid, nowSeconds(world), optionalText(call, "compress") ?? "0")
    const volid = `${storage.id}:${name}`
    const ctime = nowSeconds(world)
    task.log(`INFO: creating vzdump archive '${volid}'`)
    yield* sleep(world.clock, world.timing.snapshotTask + bytes / world.timing.copyBytesPerMs)
    if (storage.full || world.faults.isStorageFull(storage.id))
      throw failure("vma_queue_write: write error - No space left on device")
    const notes = optionalText(call, "notes-template")
    storage.volumes.set(storage.shared ? volid : `${guest.node}/${volid}`, {
      volid,
      node: guest.node,
      vmid: guest.vmid,
      sizeBytes: bytes,
      usedBytes: bytes,
      format: name.slice(name.indexOf(".vma") + 1),
      content: "backup",
      ctime,
      parent: undefined,
      backup,
      ...(notes === undefined ? {} : { notes: describe(notes, guest) }),
      ...(flag(call, "protected") ? { protected: true } : {}),
    })
  } finally {
    if (guest.config["lock"] === "backup") delete guest.config["lock"]
    touch(world, guest)
  }
  if (call.parameters["remove"] === undefined || flag(call, "remove")) {
    for (const [volume, mark] of marked(call, storage, guest.vmid))
      if (mark === "remove") {
        task.log(`INFO: removing backup '${volume.volid}'`)
        removeVolume(world, guest.node, volume.volid)
      }
  }
}

/** The guests of a call or a job: named ones, those of a pool, or all with exceptions. */
const chosen = (world: World, options: Readonly<Record<string, unknown>>): number[] => {
  const pool = options["pool"]
  const excluded = new Set(splitList(asText(options["exclude"] ?? "")).map(Number))
  if (options["vmid"] !== undefined) return splitList(asText(options["vmid"])).map(Number)
  if (pool !== undefined) return [...(world.state.pools.get(asText(pool))?.vms ?? [])]
  if (options["all"] === 1) return [...world.state.guests.keys()].filter((vmid) => !excluded.has(vmid))
  throw badParameter({ vmid: "property is missing" })
}

const refuseRootOptions = (call: Call): void => {
  for (const option of ["tmpdir", "dumpdir", "script"])
    if (call.parameters[option] !== undefined && !call.identity.isRoot)
      throw badParameter({ [option]: "Only root may set this option." })
}

const backupStorage = (call: Call, id: string): StorageState => {
  const fail = (reason: string) => failure(`could not get storage information for '${id}': ${reason}`)
  const storage = call.world.state.storages.get(id)
  if (storage === undefined) throw fail(`storage '${id}' does not exist`)
  if (!storage.content.includes("backup")) throw fail(`can't use storage '${id}' for backups - wrong content type`)
  return usableStorage(call.world, id, nodeOf(call).name)
}

const vzdump = (call: Call): string => {
  const { world, identity } = call
  refuseRootOptions(call)
  if (flag(call, "stop")) throw failure("stopping the backups of this node is not simulated: stop their tasks")
  const node = nodeOf(call).name
  const id = optionalText(call, "storage") ?? "local"
  const wanted = chosen(world, call.parameters)
  const isAll = optionalText(call, "vmid") === undefined
  const permitted = wanted.filter((vmid) => may(world, identity, `/vms/${vmid}`, ["VM.Backup"]))
  if (!isAll) for (const vmid of wanted) demand(world, identity, `/vms/${vmid}`, ["VM.Backup"])
  demand(world, identity, `/storage/${id}`, ["Datastore.AllocateSpace"])
  if (optionalText(call, "prune-backups") !== undefined) demand(world, identity, `/storage/${id}`, ["Datastore.Allocate"])
  const storage = backupStorage(call, id)
  const here = permitted.filter((vmid) => (world.state.guests.get(vmid)?.node ?? node) === node)
  if (here.length === 0) return "OK"
  return spawn(call, "vzdump", here.length === 1 ? here[0]! : "", function* (task): Routine<void> {
    task.log(`INFO: starting new backup job: vzdump ${here.join(" ")} --storage ${id}`)
    let failed = false
    for (const vmid of here) {
      task.log(`INFO: Starting Backup of VM ${vmid} (qemu)`)
      try {
        const guest = world.state.guests.get(vmid)
        if (guest === undefined) throw failure(`unable to find VM '${vmid}'`)
        yield* backUp(call, guest, storage, task)
        task.log(`INFO: Finished Backup of VM ${vmid}`)
      } catch (error) {
        // stops here if the task was stopped
        if (!(error instanceof Error) || error.name !== "PveError") throw error
        failed = true
        task.log(`ERROR: Backup of VM ${vmid} failed - ${error.message}`)
      }
    }
    if (failed) throw failure("job errors")
    task.log("INFO: Backup job finished successfully")
  })
}

/** The configuration in a backup. */
const extractConfig = (call: Call): string => {
  checkVolumeAccess(call, text(call, "volume"))
  const volume = findVolume(call.world, nodeOf(call).name, text(call, "volume"))
  if (volume?.backup === undefined) throw failure(`volume '${text(call, "volume")}' does not exist`)
  return Object.entries(volume.backup.config)
    .map(([key, value]) => `${key}: ${value}\n`)
    .toSorted()
    .join("")
}

const prunable = (call: Call) => {
  const storage = storageNamed(call.world, text(call, "storage"))
  if (optionalText(call, "type") === "lxc") return { storage, marks: [] }
  return { storage, marks: marked(call, storage, optionalNumber(call, "vmid")) }
}

const prune = (call: Call): string => {
  const { world } = call
  const id = text(call, "storage")
  const vmid = optionalNumber(call, "vmid")
  if (vmid === undefined || !may(world, call.identity, `/vms/${vmid}`, ["VM.Backup"]))
    demand(world, call.identity, `/storage/${id}`, ["Datastore.Allocate"])
  else demand(world, call.identity, `/storage/${id}`, ["Datastore.AllocateSpace"])
  return spawn(call, "prunebackups", vmid === undefined ? "" : vmid, function* (): Routine<void> {
    yield* sleep(world.clock, world.timing.configTask)
    for (const [volume, mark] of prunable(call).marks) if (mark === "remove") removeVolume(world, nodeOf(call).name, volume.volid)
  })
}

// Jobs

const jobNamed = (call: Call): Config => {
  const job = call.world.state.backupJobs.get(text(call, "id"))
  if (job === undefined) throw badParameter({ id: `No such job '${text(call, "id")}'` })
  return job
}

const objects = ["prune-backups", "fleecing", "performance"] as const

/** The next time a job runs; undefined if it is disabled or never due. */
const nextRun = (world: World, job: Config): number | undefined => {
  const calendar = job["enabled"] === 0 ? undefined : parseCalendar(String(job["schedule"]))
  return calendar === undefined ? undefined : nextTime(calendar, world.clock.now())
}

/** A job as the API shows it: property strings as objects. */
const shownJob = (world: World, id: string, job: Config) => ({
  ...job,
  ...(nextRun(world, job) === undefined ? {} : { "next-run": nextRun(world, job)! / 1000 }),
  ...Object.fromEntries(
    objects.flatMap((name) => {
      const format = namedStrings[name === "prune-backups" ? name : `backup-${name}`]?.format
      return job[name] === undefined || format === undefined ? [] : [[name, parsePropertyString(format, String(job[name]), name)]]
    }),
  ),
  id,
  type: "vzdump",
})

const week = "mon,tue,wed,thu,fri,sat,sun"

/** The options that a call sets; the old time options become a schedule. */
const jobOptions = (call: Call): Config => {
  const { id: _, delete: __, starttime: ___, dow: ____, ...given } = call.parameters
  const starttime = optionalText(call, "starttime")
  const days = optionalText(call, "dow") ?? week
  const schedule = starttime === undefined ? {} : { schedule: days === week ? starttime : `${days} ${starttime}` }
  return { ...given, ...schedule } as Config
}

const checkJob = (call: Call, job: Config): void => {
  refuseRootOptions(call)
  chosen(call.world, job)
  if (job["schedule"] === undefined) throw badParameter({ schedule: "property is missing and it is not optional" })
  if (job["storage"] !== undefined) storageNamed(call.world, String(job["storage"]))
}

const createJob = (call: Call): null => {
  const { backupJobs, random } = call.world.state
  const id = optionalText(call, "id") ?? `backup-${randomHex(random, 8)}-${randomHex(random, 4)}`
  if (backupJobs.has(id)) throw failure(`Job '${id}' already exists`)
  const job: Config = { enabled: 1, ...jobOptions(call) }
  checkJob(call, job)
  backupJobs.set(id, job)
  call.world.wakeJobs()
  return null
}

const deleteJob = (call: Call): null => {
  jobNamed(call)
  call.world.state.backupJobs.delete(text(call, "id"))
  call.world.wakeJobs()
  return null
}

/** Runs a job on its node, or on every online node that has guests for it. */
const runJob = (world: World, job: Config): void => {
  for (const node of world.state.nodes.keys()) {
    if ((job["node"] ?? node) !== node || world.faults.isNodeDown(node)) continue
    try {
      vzdump({ world, identity: rootIdentity, parameters: { ...job, node }, beside: {} })
    } catch (error) {
      world.trace.add(world.clock.now(), `backup job not run on ${node}: ${(error as Error).message}`)
    }
  }
}

/** Runs jobs when they are due. Returns the function to call when jobs or the time may have changed. */
export const watchJobs = (world: World): (() => void) => {
  let cancel = (): void => undefined
  const wake = (): void => {
    cancel()
    cancel = () => undefined
    const due = [...world.state.backupJobs].flatMap(([id, job]) => {
      const time = nextRun(world, job)
      return time === undefined ? [] : [{ id, time }]
    })
    if (due.length === 0) return
    const time = Math.min(...due.map((each) => each.time))
    cancel = world.clock.schedule(time - world.clock.now(), () => {
      for (const each of due) {
        const job = world.state.backupJobs.get(each.id)
        if (each.time === time && job !== undefined) runJob(world, job)
      }
      wake()
    })
  }
  return wake
}

const updateJob = (call: Call): null => {
  const job: Config = { ...jobNamed(call), ...jobOptions(call) }
  for (const name of splitList(optionalText(call, "delete") ?? "")) delete job[name]
  // a new selection of guests replaces the previous one
  const choice = ["vmid", "pool", "all"].filter((name) => call.parameters[name] !== undefined)
  if (choice.length > 0) for (const name of ["vmid", "pool", "all"]) if (!choice.includes(name)) delete job[name]
  checkJob(call, job)
  call.world.state.backupJobs.set(text(call, "id"), job)
  call.world.wakeJobs()
  return null
}

const guestsOf = (world: World, job: Config): Guest[] =>
  chosen(world, job)
    .flatMap((vmid) => world.state.guests.get(vmid) ?? [])
    .filter(({ node }) => job["node"] === undefined || job["node"] === node)

const includedVolumes = (call: Call) => ({
  children: guestsOf(call.world, jobNamed(call)).map((guest) => ({
    id: guest.vmid,
    name: guestName(guest),
    type: "qemu",
    children: diskEntries(guest).map(([id, disk]) => ({
      id,
      name: volumeOf(disk),
      included: isLeftOut(disk) ? 0 : 1,
      reason: isLeftOut(disk) ? "disabled" : "enabled",
    })),
  })),
})

const notBackedUp = (call: Call): unknown[] => {
  const { world } = call
  const covered = new Set(
    [...world.state.backupJobs.values()].filter((job) => job["enabled"] !== 0).flatMap((job) => guestsOf(world, job)),
  )
  return [...world.state.guests.values()]
    .filter((guest) => !covered.has(guest))
    .map((guest) => ({ vmid: guest.vmid, name: guestName(guest), type: "qemu" }))
}

/** Backups of VMs, and backup jobs. */
export const backupRoutes: Routes = {
  "POST /nodes/{node}/vzdump": vzdump,
  "GET /nodes/{node}/vzdump/extractconfig": extractConfig,
  "GET /nodes/{node}/storage/{storage}/prunebackups": (call) =>
    prunable(call).marks.map(([{ volid, ctime, vmid }, mark]) => ({ volid, ctime, vmid, type: "qemu", mark })),
  "DELETE /nodes/{node}/storage/{storage}/prunebackups": prune,
  "GET /cluster/backup": (call) => [...call.world.state.backupJobs].map(([id, job]) => shownJob(call.world, id, job)),
  "POST /cluster/backup": createJob,
  "GET /cluster/backup/{id}": (call) => shownJob(call.world, text(call, "id"), jobNamed(call)),
  "PUT /cluster/backup/{id}": updateJob,
  "DELETE /cluster/backup/{id}": deleteJob,
  "GET /cluster/backup/{id}/included_volumes": includedVolumes,
  "GET /cluster/backup-info": () => [{ subdir: "not-backed-up" }],
  "GET /cluster/backup-info/not-backed-up": notBackedUp,
}
