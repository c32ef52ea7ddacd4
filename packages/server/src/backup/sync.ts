import { spawnSync } from "node:child_process"
import { closeSync, fsyncSync, openSync } from "node:fs"

/** Makes names that were added to or removed from a folder survive a power failure. */
export const syncFolder = (folder: string): void => {
  const fd = openSync(folder, "r")
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** The same for the whole file system of a folder: one call, where one call per file would take minutes. */
export const syncEverything = (folder: string): void => {
  // Node has no syncfs; when the program does not support -f, all file systems are synced
  if (spawnSync("sync", ["-f", folder]).status === 0) return
  if (spawnSync("sync", []).status !== 0) throw new Error(`Cannot flush ${folder} to the disk: the program sync does not work`)
}
