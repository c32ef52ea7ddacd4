import { execFile } from "node:child_process"
import { rm } from "node:fs/promises"
import { systemPath } from "./places.ts"

/** Descends folder by folder, so it works whatever the length of the full path, and follows no symbolic links. */
const thorough = `chmod -R u+rwx -- "$1"
exec rm -rf -- "$1"`

/**
 * Removes a folder that a tool could write to, with everything in it. Tools can leave what cannot be removed by path: folders nested too
 * deep for any path, or ones that even their owner may not enter. Fails when something could not be removed.
 */
export const removeFolder = async (path: string): Promise<void> => {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 5 })
  } catch {
    await new Promise<void>((resolve, reject) => {
      const end = (error: Error | null): void => (error === null ? resolve() : reject(error))
      execFile("/bin/sh", ["-c", thorough, "sh", path], { env: { PATH: systemPath, LC_ALL: "C.UTF-8" }, cwd: "/" }, end)
    })
  }
}
