import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"

/** Identifies a process, also after its pid was given to another one. */
interface Maker {
  readonly pid: number
  /** When it began, in clock ticks since boot. */
  readonly began: string
  /** The boot and the pid namespace that the pid belongs to: a container may share the folder and have pids of its own. */
  readonly among: string
}

const prefix = "rangewright-demo-"
const isDemo = (name: string): boolean => name.startsWith(prefix) && /^[0-9A-Za-z]{6}$/u.test(name.slice(prefix.length))
const [dataFolder, makerFile] = ["data", "made-by.json"]

/** Undefined where it cannot be known, or there is no such process. */
const beganAt = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // the name of the program, in parentheses, may hold blanks
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
  } catch {
    return undefined
  }
}

/** Undefined on systems that do not tell. */
const processesHere = (): string | undefined => {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`
  } catch {
    return undefined
  }
}

/** Undefined for a file that says nothing, or is none of its own. */
const readMaker = (file: string): Maker | undefined => {
  try {
    const opened = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { pid, began, among } = JSON.parse(readFileSync(opened, "utf8")) as Partial<Maker>
      const isPid = typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0
      return isPid && typeof began === "string" && typeof among === "string" ? { pid, began, among } : undefined
    } finally {
      closeSync(opened)
    }
  } catch {
    return undefined
  }
}

/** Whether the process has certainly ended. */
const isGone = ({ pid, began, among }: Maker): boolean => {
  if (among !== processesHere()) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH"
  }
  return ![began, undefined].includes(beganAt(pid))
}

/** Whether only this account and root can put something else in the place of what this account has in the folder. */
const isSafe = (folder: string, account: number): boolean => {
  const { uid, mode } = statSync(folder)
  const isOthers = (mode & 0o022) !== 0 && (mode & 0o1000) === 0
  if (isOthers || ![0, account].includes(uid)) return false
  return dirname(folder) === folder || isSafe(dirname(folder), account)
}

/** Whether it is a folder, no link to one, that this account made and nobody else may change. */
const isOwn = (folder: string, account: number): boolean => {
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  return stat?.isDirectory() === true && stat.uid === account && (stat.mode & 0o077) === 0
}

/** What says whose it is goes last: whoever is stopped in between has not left what nobody may remove. */
const remove = (folder: string): void => {
  for (const one of [join(folder, dataFolder), folder]) rmSync(one, { recursive: true, force: true })
}

/** Whether a killed demo of this account had left it, and it is gone now. */
const cleared = (folder: string, account: number): boolean => {
  const maker = isOwn(folder, account) ? readMaker(join(folder, makerFile)) : undefined
  if (maker === undefined || !isGone(maker)) return false
  try {
    remove(folder)
    return true
  } catch {
    // what cannot be removed is no reason not to begin
    return false
  }
}

/** Removes what demos of this account that were killed have left in the folder; says which. Whatever may be somebody else's, or in use, stays. */
export const clearKilledDemos = (temporary: string): readonly string[] => {
  const account = process.getuid?.()
  if (account === undefined) return []
  const there = realpathSync(temporary)
  if (!isSafe(there, account)) return []
  return readdirSync(there)
    .filter(isDemo)
    .map((name) => join(there, name))
    .filter((folder) => cleared(folder, account))
}

/** A folder for a demo, of which is known whose it is. */
export interface DemoFolder {
  /** Where the service keeps its data. */
  readonly data: string
  readonly remove: () => void
}

export const makeDemoFolder = (temporary: string): DemoFolder => {
  const folder = mkdtempSync(join(temporary, prefix))
  const [began, among] = [beganAt(process.pid), processesHere()]
  const maker: Maker | undefined = began === undefined || among === undefined ? undefined : { pid: process.pid, began, among }
  if (maker !== undefined) writeFileSync(join(folder, makerFile), JSON.stringify(maker), { mode: 0o600 })
  const data = join(folder, dataFolder)
  mkdirSync(data, { mode: 0o700 })
  return { data, remove: () => remove(folder) }
}
