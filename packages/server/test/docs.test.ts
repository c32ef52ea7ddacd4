import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { beforeEach, expect, onTestFinished, test, vi } from "vitest"
import { writeDocuments } from "../src/command/docs.ts"
import { configurationDocument } from "../src/config/document.ts"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rangewright-test-"))
  const made = folder
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
})

test("the page of the configuration is written, and said to be", () => {
  const written = vi.spyOn(process.stdout, "write").mockReturnValue(true)
  onTestFinished(() => written.mockRestore())
  expect(writeDocuments(join(folder, "configuration.md"))).toBe(0)
  expect(readFileSync(join(folder, "configuration.md"), "utf8")).toBe(configurationDocument())
  expect(written).toHaveBeenCalledWith("docs/configuration.md written\n")
})

const refusal = (file: string): unknown => {
  try {
    return writeDocuments(file)
  } catch (fault) {
    return fault
  }
}

test("a page that cannot be written is told with its file, why, and what to do", () => {
  const missing = join(folder, "docs/configuration.md")
  expect(refusal(missing)).toMatchObject({
    message: `Cannot write the generated page of the configuration: there is no such file or folder (${missing})`,
    hint: expect.stringContaining("copy of the repository"),
  })
})

// root may write everywhere
test.skipIf(process.getuid?.() === 0)("so is one that this account may not write to", () => {
  const file = join(folder, "configuration.md")
  writeFileSync(file, "", { mode: 0o400 })
  expect(refusal(file)).toMatchObject({
    message: `Cannot write the generated page of the configuration: this account lacks the permission (${file})`,
    hint: "Run it as the account that owns the folder, or let this account write to it.",
  })
})
