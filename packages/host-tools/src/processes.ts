import { readdir, readFile } from "node:fs/promises"

/** Whether a process was given a home below the folder: tools hand theirs on to everything that they start. */
const isBelow = async (id: string, folder: string): Promise<boolean> => {
  // of other users, or ended meanwhile
  const environment = await readFile(`/proc/${id}/environ`, "latin1").catch(() => "")
  return `\0${environment}`.includes(`\0HOME=${Buffer.from(folder).toString("latin1")}/`)
}

/**
 * Ends every process that a tool with its home below this folder started, also those that left its process group, such as shared connections
 * of SSH. Nobody but tools of this package has a home there, so none is ended that is somebody else's.
 */
export const endProcessesBelow = async (folder: string): Promise<void> => {
  const ids = (await readdir("/proc").catch(() => [])).filter((name) => /^[0-9]+$/u.test(name))
  for (const id of ids) {
    if (!(await isBelow(id, folder))) continue
    try {
      process.kill(Number(id), "SIGKILL")
    } catch {
      // it has ended by itself
    }
  }
}
