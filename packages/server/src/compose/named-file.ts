import { readFileSync } from "node:fs"
import { fileProblem } from "../config/file-problem.ts"

/** Reads a file named by a configuration key; the error for an unreadable one names the key. */
export const readNamedFile = (key: string, path: string): string => {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    throw new Error(`Cannot read the file that ${key} names: ${fileProblem(path, error)}`, { cause: error })
  }
}
