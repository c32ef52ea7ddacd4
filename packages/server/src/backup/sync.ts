import { spawnSync } from "node:child_process"
import { closeSync, fsyncSync, openSync } from "node:fs"

/** Makes sure that names which were given or taken in a folder outlive a loss of power. */
export const syncFolder = (folder: string): void => {
  const fd = openSync(folder, "r")
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** The same for everything on the file system of a folder: one call, where a call for each of many files would take minutes. */
export const syncEverything = (folder: string): void => {
  // Node has no syncfs; where the program does not know -f, all file systems are synced
  if (spawnSync("sync", ["-f", folder]).status === 0) return
  if (spawnSync("sync", []).status !== 0) throw new Error(`Cannot flush ${folder} to the disk: the program sync does not work`)
}
