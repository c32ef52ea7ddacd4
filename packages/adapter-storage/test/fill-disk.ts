import { closeSync, openSync, writeSync } from "node:fs"

/** Takes all space that is left on the file system of `file`, in that file. */
export const fillDisk = (file: string): void => {
  const ballast = openSync(file, "a")
  try {
    for (const size of [65_536, 4_096, 1]) {
      try {
        for (;;) writeSync(ballast, Buffer.alloc(size))
      } catch (cause) {
        if ((cause as NodeJS.ErrnoException).code !== "ENOSPC") throw cause
      }
    }
  } finally {
    closeSync(ballast)
  }
}
