import { existsSync, readdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { makeFolderFor } from "../compose/owner.ts"
import { syncEverything, syncFolder } from "./sync.ts"

/**
 * A restore is built in a folder of the data folder. One rename decides: before it nothing has changed, after it whoever opens the folder
 * next ends what is left, which is renames alone.
 */
const [building, committed, placing] = ["restore.building", "restore.committed", "restore.placing"]
/** Within these: what is to be put in place, and what it takes the place of. */
const [freshFolder, formerFolder] = ["fresh", "former"]
/** Files of SQLite that belong to a database and would be taken for the new one's. */
const besideDatabase = ["rangewright.db-wal", "rangewright.db-shm"]

/** Whether a restore into this folder was decided and is not ended yet. */
export const isBeingRestored = (data: string): boolean => [committed, placing].some((name) => existsSync(join(data, name)))

/** An empty folder in which a restore is built; what one left that was cut off is gone. */
export const beginBuilding = (data: string): string => {
  rmSync(join(data, building), { recursive: true, force: true })
  // at once: who is killed leaves nothing that the service's account cannot remove
  for (const name of [building, join(building, freshFolder)]) makeFolderFor(data, name)
  return join(data, building, freshFolder)
}

/** Forgets a restore that was not decided. */
export const stopBuilding = (data: string): void => rmSync(join(data, building), { recursive: true, force: true })

/** Decides for what was built; done twice it is done once. */
export const decideForBuilt = (data: string): void => {
  if (!existsSync(join(data, building))) return
  makeFolderFor(data, join(building, formerFolder))
  syncEverything(data)
  renameSync(join(data, building), join(data, committed))
  syncFolder(data)
}

const asideName = (): string => `set-aside-${new Date().toISOString().replaceAll(/[:.]/gu, "-")}`

/** A new folder in a data folder that receives what that held; tells its path. */
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

/** What was not decided is in nobody's way: a service starts although it may not remove it. */
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
 * Ends a restore that was decided; to be called by whoever has the folder alone. Tells the folder in it that holds what was replaced, if
 * anything was.
 */
export const putInPlace = (data: string): string | undefined => {
  sweepBuilding(data)
  if (existsSync(join(data, committed))) setAside(data)
  return existsSync(join(data, placing)) ? place(data) : undefined
}
