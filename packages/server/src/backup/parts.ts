/**
 * The parts of a data folder that go into a backup: what cannot be recreated. The database, the key and the certificate are handled
 * separately. Left out are things that come back by themselves (Git repositories, gathered facts), work in progress (uploads, scratch
 * folders), and the workspaces of roles, which are unbounded and change while they are read.
 */
export const keptFolders = [
  "content/snapshots",
  "content/pins",
  "library",
  "playbook-runs/role-facts",
  // last seen statements of registries and licences: without them an older statement would be accepted again
  "subscription",
] as const

/** Single files: the instance name that a licence may be bound to, and the built-in simulator's cluster. */
export const keptFiles = ["instance", "simulator.json"] as const

/** The database in a backup, always in SQLite format. */
export const databaseName = "rangewright.db"

/** Replaced when a backup is restored, even if the backup contains nothing for them. */
export const replacedFolders = ["content", "library", "playbook-runs"] as const

/** A snapshot that disappears while the backup is made may be named by its database. */
export const staysInCopy = (path: string): boolean => /^content\/snapshots\/[^/]+$/u.test(path)

/** Temporary files that will be renamed into place. */
const beingWritten = /^(?:playbook-runs\/role-facts\/.*\.new|subscription\/.*\.[0-9a-f]{12})$/u

/** A staged copy that is not ready to be put in place. One with an intent is: the next process to open the library completes it. */
const unreadyWork = /^library\/\.staging\/[^/]+$/u

/** The library's counts of folder sizes on this host; on the host where the backup is restored they differ. */
const counted = /^library\/(?:global|users\/[^/]+)\/sizes\.json$/u

/** Whether a path below the kept folders is left out. `holds` tells whether a folder has an entry of a name. */
export const isLeftOut = (path: string, holds: (name: string) => boolean): boolean =>
  beingWritten.test(path) || counted.test(path) || (unreadyWork.test(path) && !holds("intent.json"))
