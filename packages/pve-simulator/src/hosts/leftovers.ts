import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { run } from "./command.ts"

/** Who made a set of hosts, and where its files lie. */
interface Entry {
  readonly pid: number
  /** When that process began, in the kernel's ticks: another one may have its number by now. */
  readonly began: string
  readonly folder: string
}

/** Only root writes here, and it is empty after the machine starts anew. Each set has a file with its id for a name. */
const register = "/run/rangewright-hosts"

const isId = (name: string): boolean => /^rw[0-9a-f]{6}$/u.test(name)

/** Undefined for a process that is not there. */
const beganAt = async (pid: number): Promise<string | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")
  // the name of the program, in parentheses, may hold blanks
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
}

/** Writes down that this process makes the set, before anything of it is made. */
export const enter = async (id: string, folder: string): Promise<void> => {
  const entry: Entry = { pid: process.pid, began: (await beganAt(process.pid)) ?? "", folder }
  await mkdir(register, { recursive: true, mode: 0o700 })
  const written = join(register, `${id}.new`)
  await writeFile(written, JSON.stringify(entry), { mode: 0o600 })
  await rename(written, join(register, id))
}

/** Removes a set's namespaces and link, its folder, and then its entry. What runs in it ended with whoever made it. */
export const clear = async (id: string, folder: string): Promise<void> => {
  const { output } = await run("ip", ["netns", "list"])
  const own = output.split("\n").flatMap((line) => line.split(" ").slice(0, 1))
  for (const name of own.filter((each) => each.startsWith(`${id}-`))) await run("ip", ["netns", "del", name])
  // a program of somebody else that still runs in a namespace keeps that, but not the way to it
  await run("ip", ["link", "del", id])
  await rm(folder, { recursive: true, force: true })
  await rm(join(register, id), { force: true })
}

/** Undefined for an entry that says nothing: what it is of cannot be known. */
const readEntry = async (id: string): Promise<Entry | undefined> => {
  try {
    return JSON.parse(await readFile(join(register, id), "utf8")) as Entry
  } catch {
    return undefined
  }
}

/** Clears the sets whose makers were killed. Those of others that run are left alone. */
export const clearLeftovers = async (): Promise<void> => {
  for (const id of (await readdir(register).catch(() => [])).filter(isId)) {
    const entry = await readEntry(id)
    if (entry !== undefined && (await beganAt(entry.pid)) !== entry.began) await clear(id, entry.folder)
  }
}
