import { Conflict } from "@rangewright/domain"
import { randomBytes } from "node:crypto"
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { dirname, join, resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { isBeingRestored, putInPlace } from "../backup/put-in-place.ts"
import { giveToOwnerOf } from "./owner.ts"
import { ownTemporaryFolder } from "./temporary-folder.ts"

/** The data folder cannot be used in its present state. */
export class DataFolderError extends Error {}

export interface DataFolder {
  readonly path: string
  readonly database: string
  /** Fetched content: snapshots, pins, cached repositories. */
  readonly content: string
  /** Uploaded files of requests in progress; those left by a killed process are removed. */
  readonly uploads: string
  readonly keyFile: string
  readonly certificateFile: string
  /** Identifies this installation among those that share a PostgreSQL server; stored in the folder. */
  readonly instance: string
  readonly release: () => void
}

/**
 * Holds the folder exclusively for the lifetime of this process, with an SQLite lock that the system releases however the process ends. Two
 * services on one folder would interfere. `doing`: what a command is about to do, to complete "Cannot …".
 */
const hold = (path: string, doing: string | undefined): (() => void) => {
  const lock = new DatabaseSync(join(path, "lock.db"), { timeout: 0 })
  try {
    lock.exec("pragma journal_mode = delete; begin exclusive")
    giveToOwnerOf(path, ["lock.db"])
  } catch (error) {
    lock.close()
    const because = error instanceof Error ? error.message : String(error)
    throw /lock|busy/iu.test(because)
      ? new DataFolderError(
          doing === undefined
            ? `Cannot use the data folder ${path}: another service is running on it. Stop that one, or choose another folder for this one (data).`
            : `Cannot ${doing}: a service is running on the data folder ${path}. Stop it first.`,
        )
      : new DataFolderError(`Cannot use the data folder ${path}: ${because}`)
  }
  return () => lock.close()
}

/** The name of this data folder's instance; undefined before its first start. */
export const knownInstance = (path: string): string | undefined => {
  const file = join(path, instanceFile)
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined
}

/**
 * The same, created at the first start. Written to a temporary file and renamed: a killed process leaves no empty name, which other
 * installations might share.
 */
const instanceOf = (path: string): string => {
  const known = knownInstance(path)
  if (known !== undefined) return known
  const file = join(path, instanceFile)
  const name = randomBytes(8).toString("hex")
  writeFileSync(`${file}.new`, `${name}\n`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  return name
}

/** Creates a folder and its parents. Does not use mkdir's own recursion, which never ends when a parent cannot contain folders (/proc). */
const makeFolder = (path: string): void => {
  if (existsSync(path)) return
  if (dirname(path) !== path) makeFolder(dirname(path))
  mkdirSync(path, { mode: 0o700 })
}

const isWritable = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** A folder that nobody else can use as a data folder meanwhile. */
export type HeldFolder = Pick<DataFolder, "path" | "release">

/** Creates the folder if missing (mode 0700) and holds it; completes an interrupted restore. `doing`: as for `hold`. */
export const holdFolder = (configured: string, doing?: string): HeldFolder => {
  const path = resolve(configured)
  try {
    makeFolder(path)
    if (!statSync(path).isDirectory()) throw new Error("it is not a folder")
    if (!isWritable(path)) throw new Error("it cannot be written to")
  } catch (error) {
    throw new DataFolderError(
      `Cannot use the data folder ${path}: ${error instanceof Error ? error.message : String(error)}. Choose one that the service's account may write to (data, RANGEWRIGHT_DATA).`,
    )
  }
  const release = hold(path, doing)
  try {
    putInPlace(path)
  } catch (error) {
    release()
    throw error
  }
  return { path, release }
}

/** The same for a service: its files are located, and leftovers of a killed one are removed. */
export const openDataFolder = (configured: string, doing?: string): DataFolder => {
  const { path, release } = holdFolder(configured, doing)
  const folder = { ...placesIn(path), release }
  for (const left of [folder.uploads, ownTemporaryFolder(path)]) rmSync(left, { recursive: true, force: true })
  return folder
}

/** The folder of a service that may be running: nothing is held or cleaned up. Fails when no service has used it. */
export const shareDataFolder = (configured: string): DataFolder => {
  const path = resolve(configured)
  if (isBeingRestored(path))
    throw new DataFolderError(
      `Cannot use the data folder ${path}: a restore was interrupted. Start the service, which completes it.`,
    )
  if (!existsSync(join(path, instanceFile)))
    throw new DataFolderError(
      `Cannot use the data folder ${path}: no service has used it. Set data (RANGEWRIGHT_DATA) to the service's data folder.`,
    )
  return { ...placesIn(path), release: () => undefined }
}

/** The folder of a service that is not running, held for a command that needs it exclusively. Fails when no service has used it. */
export const holdUsedFolder = (configured: string, doing: string): DataFolder => {
  shareDataFolder(configured)
  return openDataFolder(configured, doing)
}

const instanceFile = "instance"
const usedFile = "has-database"
/** Older versions did not mark a used folder, but left ROOT's key in it. */
const rootKeyName = "root-api-key"

/** Whether a service has worked with a database in this folder, including one on a server. */
export const isUsed = (path: string): boolean => [usedFile, rootKeyName].some((name) => existsSync(join(path, name)))

/** Marks the folder as used: from now on a missing database is an error. */
export const markUsed = (path: string): void => {
  if (!existsSync(join(path, usedFile)))
    writeFileSync(join(path, usedFile), "This folder belongs to a database. Without that database no service starts here.\n", {
      mode: 0o600,
    })
}

/** Where ROOT's key is kept for the operator, mode 0400. */
export const rootKeyFile = (data: string): string => join(data, rootKeyName)

/** The fault when the database of a used folder is missing, empty or something else. A new one in its place would void all keys. */
export const databaseGone = (path: string, what: string, because: string): Conflict =>
  new Conflict({
    what: `Cannot use ${what}: ${because}, but the data folder ${path} was in use`,
    hint: "Put the database back (the file itself, or npm start -- restore FILE --replace; on PostgreSQL check database_url). To start with an empty one, run npm start -- begin-anew, which sets aside what the folder holds.",
  })

/** The first bytes of an SQLite file. */
const sqliteHeader = "SQLite format 3\0"

/** The first bytes of a file; undefined when it cannot be read, which is reported when it is opened. */
const beginning = (file: string, bytes: number): string | undefined => {
  const head = Buffer.alloc(bytes)
  try {
    const opened = openSync(file, "r")
    try {
      readSync(opened, head)
    } finally {
      closeSync(opened)
    }
  } catch {
    return undefined
  }
  return head.toString("latin1")
}

/** Why a file is not a database; undefined when it may be one. */
const noDatabase = (file: string): string | undefined => {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size
  if (bytes === undefined) return "there is no such file"
  if (bytes === 0) return "the file is empty"
  return [undefined, sqliteHeader].includes(beginning(file, sqliteHeader.length)) ? undefined : "the file is not a database"
}

/** Fails when the database file of a used folder is missing or is something else; creates nothing in its place. */
export const requireDatabase = ({ path, database }: Pick<DataFolder, "path" | "database">): void => {
  const because = isUsed(path) ? noDatabase(database) : undefined
  if (because !== undefined) throw databaseGone(path, `the database ${database}`, because)
}

/** Paths in a data folder; accesses no files. */
export const filesIn = (path: string) => ({
  path,
  database: join(path, "rangewright.db"),
  content: join(path, "content"),
  uploads: join(path, "uploads"),
  keyFile: join(path, "secret-key"),
  certificateFile: join(path, "certificate.pem"),
})

const placesIn = (path: string): Omit<DataFolder, "release"> => ({
  ...filesIn(path),
  instance: instanceOf(path),
})
