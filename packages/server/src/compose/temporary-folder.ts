import { accessSync, constants, mkdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** Below the data folder; emptied when the service starts. */
export const ownTemporaryFolder = (data: string): string => join(data, "tmp")

/** Makes this process keep its temporary files in its data folder when the system's folder for them is not writable. */
export const useTemporaryFolder = (data: string): void => {
  try {
    accessSync(tmpdir(), constants.W_OK | constants.X_OK)
  } catch {
    const own = ownTemporaryFolder(data)
    mkdirSync(own, { recursive: true, mode: 0o700 })
    process.env["TMPDIR"] = own
  }
}
