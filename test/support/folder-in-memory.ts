import { accessSync, constants, statfsSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const memory = "/dev/shm"
/** Bytes that must be free there: containers often have no more than 64 MiB. */
const needed = 512 * 1024 * 1024

const isUsable = (): boolean => {
  try {
    accessSync(memory, constants.W_OK)
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= needed
  } catch {
    return false
  }
}

/**
 * Makes a folder for data that need not survive a power loss, such as test databases: in memory if there is room, since on a disk
 * each commit waits for it.
 */
export const folderInMemory = (): Promise<string> => mkdtemp(join(isUsable() ? memory : tmpdir(), "rangewright-test-"))
