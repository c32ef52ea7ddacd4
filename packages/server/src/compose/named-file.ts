import { readFileSync } from "node:fs"

/** Reads a file that a key of the configuration names; one that cannot be read is an error that names the key. */
export const readNamedFile = (key: string, path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new Error(`Cannot read the file of ${key}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}
