import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"

const root = join(import.meta.dirname, "../../..")
const example = join(root, "examples/embed/catalog-of-a-source.ts")
const timeout = 60_000
let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "rangewright-example-"))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const run = (program: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(program, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout })

test(
  "the example for embedders compiles",
  () => {
    const project = join(folder, "tsconfig.json")
    const compilerOptions = {
      noEmit: true,
      composite: false,
      declaration: false,
      declarationMap: false,
      allowImportingTsExtensions: true,
    }
    const typeRoots = [join(root, "node_modules/@types")]
    writeFileSync(
      project,
      JSON.stringify({
        extends: join(root, "tsconfig.base.json"),
        compilerOptions: { ...compilerOptions, typeRoots },
        files: [example],
      }),
    )
    expect(run(join(root, "node_modules/.bin/tsc"), "-p", project)).toBe("")
  },
  timeout,
)

test("the example for embedders prints the state of what its source ships", () => {
  expect(run(process.execPath, example).split("\n")).toEqual([
    "blueprint web 1.1.0: upgrade_available",
    "role acme.hello: not_installed, needed by web",
    "role geerlingguy.docker: upgrade_available, needed by web",
    "",
  ])
})
