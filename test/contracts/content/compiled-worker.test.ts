import { execFileSync } from "node:child_process"
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished, test } from "vitest"
import { tarGz } from "./support/archives.ts"

const repository = fileURLToPath(new URL("../../../", import.meta.url))

/** Reads archives and a builder file with the compiled adapter, and prints the results. */
const program = `
import { contentLayer } from "./dist/index.js"
import { BuilderFiles, ContentFetcher } from "@rangewright/ports"
import * as Effect from "effect/Effect"
const fetch = (file) => ContentFetcher.use((fetcher) =>
  fetcher.fetch({ location: { type: "archive", file, name: "x.tgz" }, holder: file }))
const outcome = (file) => Effect.match(fetch(file), {
  onSuccess: ({ files }) => files.map(({ path }) => path),
  onFailure: ({ facts }) => facts.rule,
})
const [, , folder, ...files] = process.argv
const builder = BuilderFiles.use(({ read }) => read("t.pkr.hcl", 'variable "vm_name" { default = "debian" }'))
const all = Effect.all([Effect.forEach(files, outcome), Effect.map(builder, ({ name }) => name)])
console.log(JSON.stringify(await Effect.runPromise(Effect.provide(all, contentLayer({ folder })))))
`

test("the compiled adapter also reads archives and builder files", { timeout: 60_000 }, () => {
  const adapter = join(repository, "packages/adapter-git")
  const root = mkdtempSync(join(tmpdir(), "compiled-"))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  symlinkSync(join(adapter, "node_modules"), join(root, "node_modules"))
  writeFileSync(join(root, "package.json"), '{"type": "module"}')
  writeFileSync(join(root, "program.js"), program)
  writeFileSync(
    join(root, "tsconfig.json"),
    JSON.stringify({
      extends: join(repository, "tsconfig.base.json"),
      // types are checked elsewhere
      compilerOptions: {
        rootDir: join(adapter, "src"),
        outDir: "dist",
        composite: false,
        declaration: false,
        declarationMap: false,
        noCheck: true,
        noResolve: true,
        types: [],
      },
      include: [join(adapter, "src")],
    }),
  )
  execFileSync(join(repository, "node_modules/.bin/tsc"), ["-p", root])
  const [honest, hostile] = [join(root, "honest"), join(root, "hostile")]
  writeFileSync(honest, tarGz([{ name: "a/b", content: "b" }, { name: "c" }]))
  writeFileSync(hostile, tarGz([{ name: "../x", content: "x" }]))
  const said = execFileSync(process.execPath, [join(root, "program.js"), join(root, "data"), honest, hostile], {
    encoding: "utf8",
  })
  expect(JSON.parse(said)).toEqual([[["a/b", "c"], "path"], "debian"])
})
