import { readFileSync } from "node:fs"
import { fileProblem } from "../config/file-problem.ts"

/** Reads a file that a key of the configuration names; one that cannot be read is an error that names the key. */
export const readNamedFile = (key: string, path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new Error(`Cannot read the file that ${key} names: ${fileProblem(path, error)}`, { cause: error })
  }
}
