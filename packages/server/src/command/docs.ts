import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { failed } from "../backup/failed.ts"
import { configurationDocument } from "../config/document.ts"

const target = fileURLToPath(new URL("../../../../docs/configuration.md", import.meta.url))

const ways = {
  EACCES: "Run it as the account that owns the folder, or let this account write to it.",
  EROFS: "Run it in a copy of the repository that can be written to.",
  ENOENT: "Run it in a copy of the repository: an installed package has no docs/.",
}

/** Writes the generated pages; a test fails when they are not up to date. */
export const writeDocuments = (file = target): number => {
  try {
    writeFileSync(file, configurationDocument())
  } catch (cause) {
    throw failed("write the generated page of the configuration", cause, ways)
  }
  process.stdout.write("docs/configuration.md written\n")
  return 0
}
