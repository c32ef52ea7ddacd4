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

/** Identifies a process, even after its pid was reused. */
interface Maker {
  readonly pid: number
  /** Start time in clock ticks since boot. */
  readonly began: string
  /** The boot and the pid namespace of the pid: a container may share the folder but have its own pids. */
  readonly among: string
}

const prefix = "rangewright-demo-"
const isDemo = (name: string): boolean => name.startsWith(prefix) && /^[0-9A-Za-z]{6}$/u.test(name.slice(prefix.length))
const [dataFolder, makerFile] = ["data", "made-by.json"]

/** Undefined when it cannot be determined, or there is no such process. */
const beganAt = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // the program's name, in parentheses, may contain spaces
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]
  } catch {
    return undefined
  }
}

/** Undefined on systems that do not provide it. */
const processesHere = (): string | undefined => {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`
  } catch {
    return undefined
  }
}

/** Undefined for a file that is malformed or belongs to another account. */
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

/** Whether only this account and root can replace what this account has in the folder. */
const isSafe = (folder: string, account: number): boolean => {
  const { uid, mode } = statSync(folder)
  const isOthers = (mode & 0o022) !== 0 && (mode & 0o1000) === 0
  if (isOthers || ![0, account].includes(uid)) return false
  return dirname(folder) === folder || isSafe(dirname(folder), account)
}

/** Whether it is a folder, and not a link to one, that this account created and nobody else may change. */
const isOwn = (folder: string, account: number): boolean => {
  const stat = lstatSync(folder, { throwIfNoEntry: false })
  return stat?.isDirectory() === true && stat.uid === account && (stat.mode & 0o077) === 0
}

/** Removes the data first and the marker of its owner last: an interruption leaves nothing that cannot be identified. */
const remove = (folder: string): void => {
  for (const one of [join(folder, dataFolder), folder]) rmSync(one, { recursive: true, force: true })
}

/** Whether it was left by a killed demo of this account and is removed now. */
const cleared = (folder: string, account: number): boolean => {
  const maker = isOwn(folder, account) ? readMaker(join(folder, makerFile)) : undefined
  if (maker === undefined || !isGone(maker)) return false
  try {
    remove(folder)
    return true
  } catch {
    // a folder that cannot be removed must not prevent a demo
    return false
  }
}

/**
 * Removes what killed demos of this account left in the folder, and returns which. Anything that may be somebody else's, or in use, stays.
 */
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

/** A folder for a demo, marked with its owner. */
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
