import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const made: string[] = []

/** A new temporary folder; `removeFolders` takes it away. */
export const temporaryFolder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "rangewright-e2e-"))
  made.push(path)
  return path
}

/** Removes the folders that the tests made; call it when no program uses them any more. */
export const removeFolders = (): void => {
  for (const path of made.splice(0)) rmSync(path, { recursive: true, force: true })
}
