import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

/** Reference data is kept next to the repository; tests that compare with it are skipped if it is absent. */
const folder = fileURLToPath(new URL("../../../../../shared/pve/", import.meta.url))

export const hasReference = existsSync(folder)

/** Appended to the names of tests that need the reference data. */
export const whenPresent = hasReference ? "" : " (skipped: no ../shared/pve beside the repository)"

export const readReference = (path: string): string => readFileSync(`${folder}${path}`, "utf8")

export const readReferenceJson = <A>(path: string): A => JSON.parse(readReference(path)) as A

export const referencePath = (path: string): string => `${folder}${path}`
