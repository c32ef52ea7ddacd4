import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { run } from "./command.ts"

/** The process that created a set of hosts, and the folder of its files. */
interface Entry {
  readonly pid: number
  /** The start time of that process in kernel ticks, because another process may have its ID by now. */
  readonly began: string
  readonly folder: string
}

/** Only root can write here, and it is empty after a reboot. Each set has a file named by its id. */
const register = "/run/rangewright-hosts"

const isId = (name: string): boolean => /^rw[0-9a-f]{6}$/u.test(name)

/** Undefined if the process does not exist. */
const beganAt = async (pid: number): Promise<string | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "")
  // the program's name, in parentheses, may contain blanks
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
}

/** Records that this process creates the set, before anything of it exists. */
export const enter = async (id: string, folder: string): Promise<void> => {
  const entry: Entry = { pid: process.pid, began: (await beganAt(process.pid)) ?? "", folder }
  await mkdir(register, { recursive: true, mode: 0o700 })
  const written = join(register, `${id}.new`)
  await writeFile(written, JSON.stringify(entry), { mode: 0o600 })
  await rename(written, join(register, id))
}

/** Removes a set's namespaces and link, its folder, and then its entry. Its processes ended with their creator. */
export const clear = async (id: string, folder: string): Promise<void> => {
  const { output } = await run("ip", ["netns", "list"])
  const own = output.split("\n").flatMap((line) => line.split(" ").slice(0, 1))
  for (const name of own.filter((each) => each.startsWith(`${id}-`))) await run("ip", ["netns", "del", name])
  // another program that still runs in a namespace keeps it alive, but without the link to it
  await run("ip", ["link", "del", id])
  await rm(folder, { recursive: true, force: true })
  await rm(join(register, id), { force: true })
}

/** Undefined for an unreadable entry. */
const readEntry = async (id: string): Promise<Entry | undefined> => {
  try {
    return JSON.parse(await readFile(join(register, id), "utf8")) as Entry
  } catch {
    return undefined
  }
}

/** Removes the sets whose creators were killed; leaves those of running processes alone. */
export const clearLeftovers = async (): Promise<void> => {
  for (const id of (await readdir(register).catch(() => [])).filter(isId)) {
    const entry = await readEntry(id)
    if (entry !== undefined && (await beganAt(entry.pid)) !== entry.began) await clear(id, entry.folder)
  }
}
