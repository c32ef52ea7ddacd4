import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { access, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Limits of one run of a tool, shared by all processes it starts. */
export interface RunLimits {
  readonly processes: number
  readonly memoryBytes: number
}

/** A control group for one run: every process that joins it, and all its children, share the limits. */
export interface Cgroup {
  /** Files that a process writes its id to in order to join. */
  readonly joins: readonly string[]
}

/** A folder in which the service may create groups, and the files that set the limits of one. */
interface Hierarchy {
  readonly folder: string
  readonly limits: (limits: RunLimits) => Readonly<Record<string, string>>
}

/** The hierarchies in which the kernel can limit a run as a whole, or the reason why there are none. */
export type Cgroups = { readonly hierarchies: readonly Hierarchy[] } | { readonly because: string }

const processLimits = ({ processes }: RunLimits) => ({ "pids.max": String(processes) })

const unified = (folder: string): Hierarchy => ({
  folder,
  limits: (limits) => ({
    ...processLimits(limits),
    "memory.max": String(limits.memoryBytes),
    "memory.swap.max": "0",
    "memory.oom.group": "1",
  }),
})

const isWritable = (path: string): Promise<boolean> =>
  access(path, constants.W_OK).then(
    () => true,
    () => false,
  )

const words = async (file: string): Promise<readonly string[]> =>
  (await readFile(file, "utf8").catch(() => "")).split(/\s+/u).filter((word) => word !== "")

/** Parses /proc/self/cgroup: the controllers of each hierarchy, and this process's group in it. */
const ownGroups = async (proc: string): Promise<ReadonlyMap<string, string>> =>
  new Map(
    (await readFile(join(proc, "self/cgroup"), "utf8").catch(() => "")).split("\n").flatMap((line) => {
      const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/u.exec(line) ?? []
      return controllers === undefined || path === undefined ? [] : [[controllers, path] as const]
    }),
  )

const needed = ["pids", "memory"]
/** Group of the service's own processes: a group whose children are limited may not contain processes itself. */
const ownLeaf = "service"

/**
 * The subtree that systemd delegates to the unit (`Delegate=yes`). Moves this process into a leaf of it, as the kernel requires, and
 * enables limits for its other children.
 */
const delegated = async (root: string, own: string | undefined): Promise<Cgroups> => {
  if (own === undefined) return { because: "this host has no control groups of the second version" }
  const known = own.endsWith(`/${ownLeaf}`) ? own.slice(0, -ownLeaf.length - 1) : own
  const folder = join(root, known)
  if (!known.endsWith(".service") || !(await isWritable(join(folder, "cgroup.subtree_control"))))
    return { because: `its control group ${own} is not delegated to it (Delegate=yes in the unit)` }
  const there = await words(join(folder, "cgroup.controllers"))
  const missing = needed.filter((name) => !there.includes(name))
  if (missing.length > 0) return { because: `its control group cannot limit ${missing.join(" and ")}` }
  try {
    await mkdir(join(folder, ownLeaf), { recursive: true })
    for (const id of await words(join(folder, "cgroup.procs")))
      await writeFile(join(folder, ownLeaf, "cgroup.procs"), id).catch((error: NodeJS.ErrnoException) => {
        // it has already ended
        if (error.code !== "ESRCH") throw error
      })
    await writeFile(join(folder, "cgroup.subtree_control"), needed.map((name) => `+${name}`).join(" "))
  } catch (error) {
    return { because: `its control group cannot be subdivided: ${error instanceof Error ? error.message : String(error)}` }
  }
  return { hierarchies: [unified(folder)] }
}

/** Hierarchies of cgroups version 1, one for each controller in which the service may create groups, which takes root. */
const separate = async (root: string, own: ReadonlyMap<string, string>): Promise<readonly Hierarchy[]> => {
  const below = async (controller: string, limits: Hierarchy["limits"]): Promise<readonly Hierarchy[]> => {
    const path = own.get(controller)
    const folder = path === undefined ? undefined : join(root, controller, path)
    return folder !== undefined && (await isWritable(join(folder, "cgroup.procs"))) ? [{ folder, limits }] : []
  }
  const found = await Promise.all([
    below("pids", processLimits),
    below("memory", ({ memoryBytes }) => ({ "memory.limit_in_bytes": String(memoryBytes) })),
  ])
  return found.every(({ length }) => length === 1) ? found.flat() : []
}

/** Marks groups as the service's: when it runs as root, others may have groups in the same folder. */
const prefix = "rangewright-run-"

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Removes groups left behind by killed services, and kills the processes that still run in them. */
const sweep = async ({ folder }: Hierarchy): Promise<void> => {
  for (const name of await readdir(folder).catch(() => [])) {
    const owner = Number(/^rangewright-run-(?<pid>\d+)-/u.exec(name)?.groups?.["pid"])
    if (owner === process.pid || (owner > 0 && !isAlive(owner))) await clear(join(folder, name))
  }
}

const end = async (group: string): Promise<void> => {
  // newer kernels kill the whole group at once
  await writeFile(join(group, "cgroup.kill"), "1", { flag: "r+" }).catch(() => {})
  for (const id of await words(join(group, "cgroup.procs")))
    try {
      process.kill(Number(id), "SIGKILL")
    } catch {
      // it has already ended
    }
}

/** Removes a group; it stays busy until its last process is reaped. */
const clear = async (group: string): Promise<void> => {
  for (let left = 50; left > 0; left--) {
    await end(group)
    const gone = await rmdir(group).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === "ENOENT",
    )
    if (gone) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/**
 * Finds out how runs can be limited, once at service start. `root` and `proc` are the mount points of the kernel's cgroup and proc file
 * systems. Touches nothing outside the service's own group.
 */
export const findCgroups = async (root = "/sys/fs/cgroup", proc = "/proc"): Promise<Cgroups> => {
  const own = await ownGroups(proc)
  const old = await separate(root, own)
  const found: Cgroups = old.length > 0 ? { hierarchies: old } : await delegated(root, own.get(""))
  if ("hierarchies" in found) await Promise.all(found.hierarchies.map(sweep))
  return found
}

/** Opens a group for one run; closing the scope ends every process in it. */
export const openCgroup = (cgroups: Cgroups, limits: RunLimits): Effect.Effect<Cgroup, Error, Scope.Scope> => {
  const groups = ("hierarchies" in cgroups ? cgroups.hierarchies : []).map(({ folder, limits: filesFor }) => ({
    group: join(folder, `${prefix}${process.pid}-${randomUUID()}`),
    files: Object.entries(filesFor(limits)),
  }))
  const make = async () => {
    for (const { group, files } of groups) {
      await mkdir(group)
      // a kernel without swap accounting has no such limit
      for (const [file, value] of files)
        await writeFile(join(group, file), value).catch((error: NodeJS.ErrnoException) => {
          if (!file.includes("swap") && !file.includes("oom")) throw error
        })
    }
  }
  const clearAll = Effect.promise(() => Promise.all(groups.map(({ group }) => clear(group))))
  return Effect.acquireRelease(
    Effect.tryPromise({ try: make, catch: (cause) => (cause instanceof Error ? cause : new Error(String(cause))) }).pipe(
      Effect.tapError(() => clearAll),
      Effect.as({ joins: groups.map(({ group }) => join(group, "cgroup.procs")) }),
    ),
    () => clearAll,
  )
}
