/** A state of a VM that its hypervisor keeps. */
export interface MachineSnapshot {
  readonly name: string
  /** As it is written there (`readSnapshotText`). */
  readonly description: string
  /** Seconds since 1970. */
  readonly takenAt: number
  /** Whether it holds the memory of a running VM. */
  readonly memory: boolean
  /** The one that it was taken after; undefined: it is a first one. */
  readonly parent?: string | undefined
  /** True: it is being made or removed now, or that broke off. */
  readonly incomplete: boolean
}

/** All snapshots of a VM. */
export interface SnapshotTree {
  readonly snapshots: readonly MachineSnapshot[]
  /** The one that the VM goes on from. */
  readonly current: string | undefined
  /** Whether the VM ran when they were read; absent: not known. */
  readonly running?: boolean
}

export const noSnapshots: SnapshotTree = { snapshots: [], current: undefined }

export const findSnapshot = ({ snapshots }: SnapshotTree, name: string): MachineSnapshot | undefined =>
  snapshots.find((snapshot) => snapshot.name === name)

/** What a machine is rolled back to when testing stops. */
export const testingSnapshot = "ludus_automated_clean_snapshot"
/** Stands in for it while it is replaced. */
export const testingStandIn = "ludus_automated_stand_in"

/** Why nobody may touch a snapshot of this name in a range that is cut off; undefined: it is not testing mode's. */
export const testingSnapshotProblem = (name: string): string | undefined =>
  name === testingSnapshot || name === testingStandIn
    ? `the snapshot ${name} is the one that stopping testing rolls back to, and testing is on: stop it first`
    : undefined

/** Whether it is the one that was meant: one that was taken anew under its name is another. `takenAt` undefined: any of this name is. */
export const isTakenAt = (snapshot: MachineSnapshot, takenAt: number | undefined): boolean =>
  takenAt === undefined || snapshot.takenAt === takenAt

/**
 * The snapshot that a VM was rolled back to between two readings, as far as they show it: it is on one that was there before, and not because
 * the one that it was on is gone. A second rollback to the same one cannot be seen.
 */
export const rolledBackTo = (before: SnapshotTree, now: SnapshotTree): MachineSnapshot | undefined => {
  if (now.current === undefined || now.current === before.current) return undefined
  const [was, is] = [findSnapshot(before, now.current), findSnapshot(now, now.current)]
  if (was === undefined || is === undefined || was.takenAt !== is.takenAt) return undefined
  return before.current === undefined || findSnapshot(now, before.current) !== undefined ? is : undefined
}

/** Names that the hypervisor has for itself. */
const reserved: readonly string[] = ["current", "pending"]
const shown = (name: string): string => JSON.stringify(name.length > 50 ? `${name.slice(0, 50)}…` : name)

/** Why nothing may be called so; undefined: it may. */
export const snapshotNameProblem = (name: string): string | undefined => {
  if (reserved.includes(name)) return `the name ${shown(name)} is reserved by the hypervisor`
  return /^[A-Za-z][\w-]{2,39}$/u.test(name)
    ? undefined
    : `${shown(name)} is not a valid snapshot name: it must have 3 to 40 characters, a letter first, then letters, digits, _ and -`
}

export const snapshotTextAtMost = 1000

/** Why nothing may be described so; undefined: it may. */
export const snapshotTextProblem = (text: string): string | undefined => {
  if (text.length > snapshotTextAtMost) return `the description is longer than ${snapshotTextAtMost} characters`
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  return /[\u0000-\u0008\u000b-\u001f\u007f]/u.test(text) ? "the description contains control characters" : undefined
}

/**
 * A snapshot's description with a mark of the request that it is made for, in a line of its own: one that is found after its answer was lost
 * is known by it, and is never taken for one that somebody made by hand.
 */
export const writeSnapshotText = (text: string, request: string): string => {
  const mark = `[rangewright ${request}]`
  return text.trim() === "" ? mark : `${text.trim()}\n${mark}`
}

/** What people wrote: without the mark. */
export const readSnapshotText = (description: string): string =>
  description
    .trim()
    .replace(/(?:^|\n)\[rangewright [A-Za-z0-9]{1,40}\]$/u, "")
    .trimEnd()

/** Whether it is the snapshot that was asked for with this description, mark included. */
export const isSnapshotOf = (snapshot: MachineSnapshot, description: string): boolean =>
  snapshot.description.trim() === description.trim()
