import { execFileSync } from "node:child_process"
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

const lint = (): { readonly status: number; readonly output: string } => {
  try {
    return {
      status: 0,
      output: execFileSync(oxlint, ["--config", ".oxlintrc.json", "."], { cwd: tree, encoding: "utf8", stdio: "pipe" }),
    }
  } catch (error) {
    const failed = error as { status?: number; stdout?: string; stderr?: string }
    return { status: failed.status ?? -1, output: `${failed.stdout ?? ""}${failed.stderr ?? ""}` }
  }
}

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), "boundaries-"))
  // the rules as they are, without type information: the planted files belong to no project
  const rules = JSON.parse(readFileSync(join(root, ".oxlintrc.json"), "utf8")) as { options: { typeAware: boolean } }
  writeFileSync(join(tree, ".oxlintrc.json"), JSON.stringify({ ...rules, options: { ...rules.options, typeAware: false } }))
})
afterAll(() => rmSync(tree, { recursive: true, force: true }))

describe("import rules", () => {
  test("a clean tree passes", () => {
    mkdirSync(join(tree, "packages/domain/src"), { recursive: true })
    writeFileSync(
      join(tree, "packages/domain/src/clean.ts"),
      `import * as Option from "effect/Option"\nexport const x = Option.none()\n`,
    )
    expect(lint().output).not.toContain("no-restricted-imports")
  })

  test("a circle of two files is caught, also one of types alone", () => {
    const folder = join(tree, "packages/domain/src")
    mkdirSync(folder, { recursive: true })
    const files = ["one", "other"].map((name) => join(folder, `planted-${name}.ts`))
    writeFileSync(files[0]!, `import type { Other } from "./planted-other.ts"\nexport type One = Other | 1\n`)
    writeFileSync(files[1]!, `import type { One } from "./planted-one.ts"\nexport type Other = { readonly one: One }\n`)
    const { status, output } = lint()
    for (const file of files) rmSync(file)
    expect(status).not.toBe(0)
    expect(output).toContain("no-cycle")
  })

  test.each(violations)("%s is caught", (file, source, why) => {
    const path = join(tree, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, source)
    const { status, output } = lint()
    rmSync(path)
    expect(status).not.toBe(0)
    expect(output).toContain("no-restricted-imports")
    expect(output).toContain(why)
  })
})
