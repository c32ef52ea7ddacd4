/**
 * What of a data folder goes into a backup: what cannot be had again. The database, the key and the certificate have ways of their own.
 * Left out is what comes back by itself (repositories of git, gathered facts), what is being worked on (uploads, scratch folders), and what
 * roles keep for themselves in their workspaces, which is without bounds and changes while it is read.
 */
export const keptFolders = [
  "content/snapshots",
  "content/pins",
  "library",
  "playbook-runs/role-facts",
  // what registries and licences were seen to say: without it an older statement of theirs would be believed again
  "subscription",
] as const

/** Single files: the name that a licence may be bound to, and the built-in simulator's cluster. */
export const keptFiles = ["instance", "simulator.json"] as const

/** The database in a backup, always SQLite's. */
export const databaseName = "rangewright.db"

/** What takes the place of its like where a backup is restored, also when the backup has nothing there. */
export const replacedFolders = ["content", "library", "playbook-runs"] as const

/** A snapshot that goes away while the backup is made may be one that its database names. */
export const staysInCopy = (path: string): boolean => /^content\/snapshots\/[^/]+$/u.test(path)

/** Files that are being written beside the place where they belong. */
const beingWritten = /^(?:playbook-runs\/role-facts\/.*\.new|subscription\/.*\.[0-9a-f]{12})$/u

/** A copy that is not ready to be put in place. One with an intent is: whoever opens the library next ends what it says. */
const unreadyWork = /^library\/\.staging\/[^/]+$/u

/** What the library counted of folders of this host; where a backup is restored there are others. */
const counted = /^library\/(?:global|users\/[^/]+)\/sizes\.json$/u

/** Whether something below the kept folders is left out. `holds` asks whether a folder has an entry of a name. */
export const isLeftOut = (path: string, holds: (name: string) => boolean): boolean =>
  beingWritten.test(path) || counted.test(path) || (unreadyWork.test(path) && !holds("intent.json"))
