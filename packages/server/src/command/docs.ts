import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { configurationDocument } from "../config/document.ts"

const target = fileURLToPath(new URL("../../../../docs/configuration.md", import.meta.url))

/** Writes the generated pages; a test fails when they are not up to date. */
export const writeDocuments = (): number => {
  writeFileSync(target, configurationDocument())
  process.stdout.write("docs/configuration.md written\n")
  return 0
}
