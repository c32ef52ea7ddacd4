import { existsSync, readdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { makeFolderFor } from "../compose/owner.ts"
import { syncEverything, syncFolder } from "./sync.ts"

/**
 * A restore is built in a folder inside the data folder. One rename commits it: before it nothing has changed; after it the next process to
 * open the folder completes the rest, which is only renames.
 */
const [building, committed, placing] = ["restore.building", "restore.committed", "restore.placing"]
/** Inside these folders: the new files, and those they replace. */
const [freshFolder, formerFolder] = ["fresh", "former"]
/** SQLite files that belong to the old database and would be taken for the new one's. */
const besideDatabase = ["rangewright.db-wal", "rangewright.db-shm"]

/** Whether a restore into this folder was committed and is not complete yet. */
export const isBeingRestored = (data: string): boolean => [committed, placing].some((name) => existsSync(join(data, name)))

/** Creates an empty folder in which a restore is built, and removes one left by an interrupted restore. */
export const beginBuilding = (data: string): string => {
  rmSync(join(data, building), { recursive: true, force: true })
  // owned by the service's account from the start: if this is killed, the service can remove what it left
  for (const name of [building, join(building, freshFolder)]) makeFolderFor(data, name)
  return join(data, building, freshFolder)
}

/** Discards a restore that was not committed. */
export const stopBuilding = (data: string): void => rmSync(join(data, building), { recursive: true, force: true })

/** Commits what was built. Idempotent. */
export const decideForBuilt = (data: string): void => {
  if (!existsSync(join(data, building))) return
  makeFolderFor(data, join(building, formerFolder))
  syncEverything(data)
  renameSync(join(data, building), join(data, committed))
  syncFolder(data)
}

const asideName = (): string => `set-aside-${new Date().toISOString().replaceAll(/[:.]/gu, "-")}`

/** Creates a folder in the data folder for what is replaced; returns its path. */
export const makeAside = (data: string): string => {
  const name = asideName()
  makeFolderFor(data, name)
  return join(data, name)
}

const setAside = (data: string): void => {
  const from = join(data, committed)
  const fresh = readdirSync(join(from, freshFolder))
  const replaced = new Set(fresh.includes("rangewright.db") ? [...fresh, ...besideDatabase] : fresh)
  for (const name of [...replaced].filter((one) => existsSync(join(data, one))))
    renameSync(join(data, name), join(from, formerFolder, name))
  renameSync(from, join(data, placing))
  syncFolder(data)
}

const place = (data: string): string | undefined => {
  const from = join(data, placing)
  const [former, fresh] = [join(from, formerFolder), join(from, freshFolder)]
  const aside = existsSync(former) && readdirSync(former).length > 0 ? asideName() : undefined
  if (aside !== undefined) renameSync(former, join(data, aside))
  for (const name of existsSync(fresh) ? readdirSync(fresh) : []) renameSync(join(fresh, name), join(data, name))
  syncFolder(data)
  rmSync(from, { recursive: true })
  return aside
}

/** An uncommitted restore does no harm: the service starts even if it may not remove it. */
const sweepBuilding = (data: string): void => {
  try {
    stopBuilding(data)
  } catch (cause) {
    const { code = "", message } = cause as NodeJS.ErrnoException
    if (!["EACCES", "EPERM"].includes(code)) throw cause
    process.emitWarning(
      `Cannot remove ${join(data, building)}, which an interrupted restore left: ${message}. Nothing of it is in use. Remove it as root.`,
    )
  }
}

/**
 * Completes a committed restore; must be called by a process that holds the folder exclusively. Returns the folder in it that holds what
 * was replaced, if anything was.
 */
export const putInPlace = (data: string): string | undefined => {
  sweepBuilding(data)
  if (existsSync(join(data, committed))) setAside(data)
  return existsSync(join(data, placing)) ? place(data) : undefined
}
