/** The examples for embedders, compiled and run as they are. */
import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../..")
const pathOf = (example: string): string => join(root, "examples/embed", example)

/** Milliseconds that a compiler may take. */
export const timeout = 60_000

const run = (program: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(program, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout })

/** What the compiler says of it; nothing where it compiles. */
export const compile = (example: string): string => {
  const folder = mkdtempSync(join(tmpdir(), "rangewright-example-"))
  try {
    const project = join(folder, "tsconfig.json")
    const compilerOptions = {
      noEmit: true,
      composite: false,
      declaration: false,
      declarationMap: false,
      allowImportingTsExtensions: true,
      typeRoots: [join(root, "node_modules/@types")],
    }
    writeFileSync(
      project,
      JSON.stringify({ extends: join(root, "tsconfig.base.json"), compilerOptions, files: [pathOf(example)] }),
    )
    return run(join(root, "node_modules/.bin/tsc"), "-p", project)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The lines that it prints. */
export const linesOf = (example: string): ReadonlyArray<string> => run(process.execPath, pathOf(example)).trimEnd().split("\n")
