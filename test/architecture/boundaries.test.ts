import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const oxlint = join(root, "node_modules", ".bin", "oxlint")
let tree: string

/** Each breaks one rule of the map in docs/architecture.md. */
const violations: readonly (readonly [file: string, source: string, why: string])[] = [
  [
    "packages/domain/src/planted.ts",
    `import { readFileSync } from "node:fs"\nexport const x = readFileSync\n`,
    "the domain is pure",
  ],
  [
    "packages/domain/src/planted-runtime.ts",
    `import * as Effect from "effect/Effect"\nexport const x = Effect.void\n`,
    "the domain is pure",
  ],
  [
    "packages/domain/src/planted-port.ts",
    `import { Users } from "@rangewright/ports"\nexport const x = Users\n`,
    "the domain is pure",
  ],
  ["packages/ports/src/planted.ts", `import ssh2 from "ssh2"\nexport const x = ssh2\n`, "a port speaks the domain's words"],
  [
    "packages/run-engine/src/planted.ts",
    `import { rangeRequest } from "@rangewright/application"\nexport const x = rangeRequest\n`,
    "the run engine knows the domain and the ports",
  ],
  [
    "packages/run-engine/src/planted-port.ts",
    `import { Ranges } from "@rangewright/ports"\nexport const x = Ranges\n`,
    "a kind brings its own services",
  ],
  [
    "packages/application/src/planted.ts",
    `import { storageLayer } from "@rangewright/adapter-storage"\nexport const x = storageLayer\n`,
    "the application knows the domain and the ports",
  ],
  [
    "packages/application/src/planted-koa.ts",
    `import Koa from "koa"\nexport const x = Koa\n`,
    "the application knows the domain and the ports",
  ],
  [
    "packages/adapter-storage/src/planted.ts",
    `import { operations } from "@rangewright/application"\nexport const x = operations\n`,
    "a driven adapter knows the domain, the ports and the tools of the host",
  ],
  [
    "packages/adapter-proxmox/src/planted.ts",
    `import { cryptoLayer } from "@rangewright/adapter-crypto"\nexport const x = cryptoLayer\n`,
    "a driven adapter knows the domain, the ports and the tools of the host",
  ],
  [
    "packages/adapter-git/src/planted.ts",
    `import { operations } from "@rangewright/application"\nexport const x = operations\n`,
    "a driven adapter knows the domain, the ports and the tools of the host",
  ],
  [
    "packages/host-tools/src/planted.ts",
    `import { Users } from "@rangewright/ports"\nexport const x = Users\n`,
    "the tools of the host know the domain alone",
  ],
  [
    "packages/adapter-http/src/planted.ts",
    `import { Users } from "@rangewright/ports"\nexport const x = Users\n`,
    "the HTTP adapter knows",
  ],
  [
    "packages/pve-simulator/src/planted.ts",
    `import { macOf } from "@rangewright/domain"\nexport const x = macOf\n`,
    "the simulator must not share our mapping",
  ],
  [
    "packages/web/src/planted.ts",
    `import type { Operation } from "@rangewright/application"\nexport type X = Operation\n`,
    "the page is a client",
  ],
  [
    "packages/web/src/planted-domain.ts",
    `import { macOf } from "@rangewright/domain"\nexport const x = macOf\n`,
    "the page is a client",
  ],
  [
    "packages/web/src/planted-library.ts",
    `import { receiptText } from "@rangewright/domain/library"\nexport const x = receiptText\n`,
    "the page is a client",
  ],
  [
    "packages/web/src/planted-runtime.ts",
    `import * as Effect from "effect/Effect"\nexport const x = Effect.void\n`,
    "the page is a client",
  ],
  [
    "packages/web/src/planted-value.ts",
    `import { Range } from "@rangewright/application/wire"\nexport const x = Range\n`,
    "what answers look like are types",
  ],
]

const others = {
  "packages/domain/src/clean.ts": `import * as Option from "effect/Option"\nexport const x = Option.none()\n`,
  "packages/domain/src/planted-one.ts": `import type { Other } from "./planted-other.ts"\nexport type One = Other | 1\n`,
  "packages/domain/src/planted-other.ts": `import type { One } from "./planted-one.ts"\nexport type Other = { readonly one: One }\n`,
  "packages/domain/src/planted-pattern.ts": `export const trimmed = (text: string) => text.replace(/x+$/u, "")\n`,
}

interface Finding {
  readonly filename: string
  /** The rule. */
  readonly code: string
}
let findings: readonly Finding[]

/** The linter's report on the files of a folder; it exits with 1 when it finds something. */
const lint = (folder: string): readonly Finding[] => {
  const { stdout } = spawnSync(oxlint, ["--config", ".oxlintrc.json", "--format", "json", "."], { cwd: folder, encoding: "utf8" })
  return (JSON.parse(stdout) as { readonly diagnostics: readonly Finding[] }).diagnostics
}

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), "boundaries-"))
  // the rules as they are, without type information: the planted files belong to no project
  const rules = JSON.parse(readFileSync(join(root, ".oxlintrc.json"), "utf8")) as {
    options: object
    jsPlugins: readonly string[]
  }
  const config = {
    ...rules,
    options: { ...rules.options, typeAware: false },
    jsPlugins: rules.jsPlugins.map((name) => fileURLToPath(import.meta.resolve(name))),
  }
  writeFileSync(join(tree, ".oxlintrc.json"), JSON.stringify(config))
  for (const [file, source] of [...violations, ...Object.entries(others)]) {
    mkdirSync(dirname(join(tree, file)), { recursive: true })
    writeFileSync(join(tree, file), source)
  }
  findings = lint(tree)
})
afterAll(() => rmSync(tree, { recursive: true, force: true }))

const about = (file: string): readonly Finding[] => findings.filter(({ filename }) => filename === file)

describe("the linter", () => {
  test("accepts a clean file", () => {
    expect(about("packages/domain/src/clean.ts")).toEqual([])
  })

  test("catches a cycle of two files, even of types alone", () => {
    expect(about("packages/domain/src/planted-one.ts")).toMatchObject([{ code: expect.stringContaining("no-cycle") }])
  })

  test("catches a pattern that takes quadratic time", () => {
    expect(about("packages/domain/src/planted-pattern.ts")).toMatchObject([
      { code: expect.stringContaining("no-super-linear-move") },
    ])
  })

  test.each(violations)("catches %s", (file, _, why) => {
    const rule = expect.stringContaining("no-restricted-imports")
    expect(about(file)).toContainEqual(expect.objectContaining({ code: rule }))
    expect(JSON.stringify(about(file))).toContain(why)
  })
})
