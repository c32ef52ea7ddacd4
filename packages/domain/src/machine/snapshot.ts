/** A snapshot of a VM. */
export interface MachineSnapshot {
  readonly name: string
  /** As stored on the hypervisor (`readSnapshotText`). */
  readonly description: string
  /** Seconds since 1970. */
  readonly takenAt: number
  /** Whether it includes the memory of a running VM. */
  readonly memory: boolean
  /** The snapshot that it is based on; undefined for a root. */
  readonly parent?: string | undefined
  /** True if it is being created or removed, or that was interrupted. */
  readonly incomplete: boolean
}

/** All snapshots of a VM. */
export interface SnapshotTree {
  readonly snapshots: readonly MachineSnapshot[]
  /** The snapshot that the VM's current state is based on. */
  readonly current: string | undefined
  /** Whether the VM was running when they were read; absent: unknown. */
  readonly running?: boolean
}

export const noSnapshots: SnapshotTree = { snapshots: [], current: undefined }

export const findSnapshot = ({ snapshots }: SnapshotTree, name: string): MachineSnapshot | undefined =>
  snapshots.find((snapshot) => snapshot.name === name)

/** The snapshot that machines are rolled back to when testing stops. */
export const testingSnapshot = "ludus_automated_clean_snapshot"
/** Takes its place while it is replaced. */
export const testingStandIn = "ludus_automated_stand_in"

/** Why this snapshot must not be touched in a range in testing mode; undefined if it is not testing mode's. */
export const testingSnapshotProblem = (name: string): string | undefined =>
  name === testingSnapshot || name === testingStandIn
    ? `stopping testing rolls machines back to the snapshot ${name}, and testing is on: stop testing first`
    : undefined

/** Whether it is the intended snapshot: one retaken under the same name is different. `takenAt` undefined: any of this name. */
export const isTakenAt = (snapshot: MachineSnapshot, takenAt: number | undefined): boolean =>
  takenAt === undefined || snapshot.takenAt === takenAt

/**
 * The snapshot that a VM was rolled back to between two reads, as far as they show it: the VM is based on one that existed before, and not
 * because the previous one was removed. A second rollback to the same snapshot is not detectable.
 */
export const rolledBackTo = (before: SnapshotTree, now: SnapshotTree): MachineSnapshot | undefined => {
  if (now.current === undefined || now.current === before.current) return undefined
  const [was, is] = [findSnapshot(before, now.current), findSnapshot(now, now.current)]
  if (was === undefined || is === undefined || was.takenAt !== is.takenAt) return undefined
  return before.current === undefined || findSnapshot(now, before.current) !== undefined ? is : undefined
}

/** Names that the hypervisor reserves. */
const reserved: readonly string[] = ["current", "pending"]
const shown = (name: string): string => JSON.stringify(name.length > 50 ? `${name.slice(0, 50)}…` : name)

/** Why a snapshot name is invalid; undefined if it is valid. */
export const snapshotNameProblem = (name: string): string | undefined => {
  if (reserved.includes(name)) return `the name ${shown(name)} is reserved by the hypervisor`
  return /^[A-Za-z][\w-]{1,39}$/u.test(name)
    ? undefined
    : `${shown(name)} is not a valid snapshot name: it must have 2 to 40 characters, a letter first, then letters, digits, _ and -`
}

export const snapshotTextAtMost = 1000

/** Why a snapshot description is invalid; undefined if it is valid. */
export const snapshotTextProblem = (text: string): string | undefined => {
  if (text.length > snapshotTextAtMost) return `the description is longer than ${snapshotTextAtMost} characters`
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  return /[\u0000-\u0008\u000b-\u001f\u007f]/u.test(text) ? "the description contains control characters" : undefined
}

/**
 * A snapshot's description with a mark, on a line of its own, of the request that creates it. If the response is lost, the mark identifies
 * the snapshot, so that one made by hand is never mistaken for it.
 */
export const writeSnapshotText = (text: string, request: string): string => {
  const mark = `[rangewright ${request}]`
  return text.trim() === "" ? mark : `${text.trim()}\n${mark}`
}

/** The description that a person wrote, without the mark. */
export const readSnapshotText = (description: string): string =>
  description
    .trim()
    .replace(/(?:^|\n)\[rangewright [A-Za-z0-9]{1,40}\]$/u, "")
    .trimEnd()

/** Whether the snapshot was requested with this description, mark included. */
export const isSnapshotOf = (snapshot: MachineSnapshot, description: string): boolean =>
  snapshot.description.trim() === description.trim()
