import { systemPath } from "@rangewright/host-tools"
import { execFile } from "node:child_process"

const longestMillis = 60_000

/**
 * Waits until everything in a folder is on disk. One call of the system for the whole file system: a tree may have tens of thousands of
 * files. Where the program is missing, or takes too long, the system writes it in its own time.
 */
export const flushed = (folder: string): Promise<void> =>
  new Promise((resolve) => {
    execFile("sync", ["-f", folder], { env: { PATH: systemPath }, timeout: longestMillis }, () => resolve())
  })
