import { accessSync, constants, statfsSync } from "node:fs"
import { mkdtemp } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

const memory = "/dev/shm"
/** Bytes that have to be free there: containers often have no more than 64 MiB. */
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
 * A new folder for what a loss of power may take, such as databases of tests in one process: in memory where there is room, since on a disk
 * each of their commits waits for it.
 */
export const folderInMemory = (): Promise<string> => mkdtemp(join(isUsable() ? memory : tmpdir(), "rangewright-test-"))
