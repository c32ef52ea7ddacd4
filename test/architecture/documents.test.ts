import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { configurationDocument } from "../../packages/server/src/config/document.ts"

test("docs/configuration.md says what the declaration of the keys says", () => {
  const written = readFileSync(fileURLToPath(new URL("../../docs/configuration.md", import.meta.url)), "utf8")
  expect(written, "run npm run docs").toBe(configurationDocument())
})
