import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { access, mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** What one run of a tool may take, with everything that it starts. */
export interface RunLimits {
  readonly processes: number
  readonly memoryBytes: number
}

/** A control group for one run: what joins it is limited together with all that it starts. */
export interface Cgroup {
  /** Files that a process writes its id to, to join. */
  readonly joins: readonly string[]
}

/** A folder below which the service may make groups, and the files by which one is limited. */
interface Hierarchy {
  readonly folder: string
  readonly limits: (limits: RunLimits) => Readonly<Record<string, string>>
}

/** Where runs are limited by the kernel as a whole; or why they are not. */
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

/** The lines of /proc/self/cgroup: each hierarchy's controllers, and the group of this process in it. */
const ownGroups = async (proc: string): Promise<ReadonlyMap<string, string>> =>
  new Map(
    (await readFile(join(proc, "self/cgroup"), "utf8").catch(() => "")).split("\n").flatMap((line) => {
      const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/u.exec(line) ?? []
      return controllers === undefined || path === undefined ? [] : [[controllers, path] as const]
    }),
  )

const needed = ["pids", "memory"]
/** The service's own processes: a group whose children are limited may hold none itself. */
const ownLeaf = "service"

/**
 * The subtree that systemd delegates to the unit (`Delegate=yes`). Moves this process into a leaf of it, as the kernel asks, and lets the
 * others of its children be limited.
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
        // it has ended by itself
        if (error.code !== "ESRCH") throw error
      })
    await writeFile(join(folder, "cgroup.subtree_control"), needed.map((name) => `+${name}`).join(" "))
  } catch (error) {
    return { because: `its control group cannot be subdivided: ${error instanceof Error ? error.message : String(error)}` }
  }
  return { hierarchies: [unified(folder)] }
}

/** Hierarchies of the first version, one for each controller, where the service may make groups in them: as root. */
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

/** Names of groups tell whose they are: where the service is root, several may share the folder. */
const prefix = "rangewright-run-"

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** Removes what killed services left, with what still runs in it. */
const sweep = async ({ folder }: Hierarchy): Promise<void> => {
  for (const name of await readdir(folder).catch(() => [])) {
    const owner = Number(/^rangewright-run-(?<pid>\d+)-/u.exec(name)?.groups?.["pid"])
    if (owner === process.pid || (owner > 0 && !isAlive(owner))) await clear(join(folder, name))
  }
}

const end = async (group: string): Promise<void> => {
  // newer kernels end all at once
  await writeFile(join(group, "cgroup.kill"), "1", { flag: "r+" }).catch(() => {})
  for (const id of await words(join(group, "cgroup.procs")))
    try {
      process.kill(Number(id), "SIGKILL")
    } catch {
      // it has ended by itself
    }
}

/** A group is busy until its last process is reaped. */
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
 * Finds where runs can be limited, once when the service starts. `root` and `proc` are where the kernel shows its groups and processes.
 * Nothing outside of the service's own group is touched.
 */
export const findCgroups = async (root = "/sys/fs/cgroup", proc = "/proc"): Promise<Cgroups> => {
  const own = await ownGroups(proc)
  const old = await separate(root, own)
  const found: Cgroups = old.length > 0 ? { hierarchies: old } : await delegated(root, own.get(""))
  if ("hierarchies" in found) await Promise.all(found.hierarchies.map(sweep))
  return found
}

/** A group for one run; everything in it ends with the scope. */
export const openCgroup = (cgroups: Cgroups, limits: RunLimits): Effect.Effect<Cgroup, Error, Scope.Scope> => {
  const groups = ("hierarchies" in cgroups ? cgroups.hierarchies : []).map(({ folder, limits: filesFor }) => ({
    group: join(folder, `${prefix}${process.pid}-${randomUUID()}`),
    files: Object.entries(filesFor(limits)),
  }))
  const make = async () => {
    for (const { group, files } of groups) {
      await mkdir(group)
      // a kernel without swap accounting has no limit of it
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
