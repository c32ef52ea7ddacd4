import { readdir, readFile } from "node:fs/promises"

/** Whether a process has its HOME below the folder: tools pass theirs on to everything they start. */
const isBelow = async (id: string, folder: string): Promise<boolean> => {
  // unreadable when it belongs to another user or has ended
  const environment = await readFile(`/proc/${id}/environ`, "latin1").catch(() => "")
  return `\0${environment}`.includes(`\0HOME=${Buffer.from(folder).toString("latin1")}/`)
}

/**
 * Kills every process started by a tool with its HOME below this folder, including those that left its process group, such as shared SSH
 * connections. Only tools of this package have a HOME there, so nobody else's process is killed.
 */
export const endProcessesBelow = async (folder: string): Promise<void> => {
  const ids = (await readdir("/proc").catch(() => [])).filter((name) => /^[0-9]+$/u.test(name))
  for (const id of ids) {
    if (!(await isBelow(id, folder))) continue
    try {
      process.kill(Number(id), "SIGKILL")
    } catch {
      // it has already ended
    }
  }
}
