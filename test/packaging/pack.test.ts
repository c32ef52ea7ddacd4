import { execFileSync } from "node:child_process"
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, test } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const artifacts = join(root, "artifacts")
const minutes = 60_000
let project: string

const examples = readdirSync(join(root, "examples/embed")).filter((file) => file.endsWith(".ts"))

const run = (program: string, args: readonly string[], cwd: string): string =>
  execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 5 * minutes })

/** Version that the workspace pins. */
const pinned = (name: string): string =>
  (JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")) as { version: string }).version

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "rangewright-outside-"))
  rmSync(artifacts, { recursive: true, force: true })
  run("sh", ["tools/run.sh", "pack"], root)
  const tarballs = readdirSync(artifacts)
    .filter((f) => f.endsWith(".tgz"))
    .map(
      (f) => [`@rangewright/${f.replace(/^rangewright-(.*)-\d+\.\d+\.\d+\.tgz$/u, "$1")}`, `file:${join(artifacts, f)}`] as const,
    )
  const ours = Object.fromEntries(tarballs)
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({
      name: "outside",
      private: true,
      type: "module",
      dependencies: { ...ours, effect: pinned("effect") },
      devDependencies: { typescript: pinned("typescript"), "@types/node": pinned("@types/node") },
      overrides: Object.fromEntries(tarballs.map(([name]) => [name, `$${name}`])),
    }),
  )
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "es2024",
        module: "nodenext",
        types: ["node"],
        strict: true,
        skipLibCheck: false,
        outDir: "out",
      },
      include: ["*.ts"],
    }),
  )
  for (const example of examples) cpSync(join(root, "examples/embed", example), join(project, example))
  run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], project)
}, 10 * minutes)

afterAll(() => rmSync(project, { recursive: true, force: true }))

test(
  "the packed library compiles in an outside project with all of its types checked, and every example runs there",
  () => {
    run(join(project, "node_modules", ".bin", "tsc"), ["-p", "."], project)
    const printed = new Map(
      examples.map((example) => [example, run(process.execPath, [join("out", example.replace(/\.ts$/u, ".js"))], project)]),
    )
    expect([...printed].filter(([, text]) => text.trim() === "")).toEqual([])
    const plan = printed.get("plan-a-range.ts")
    expect(plan).toContain("Plan for range LAB")
    expect(plan).toContain("LAB-web")
    expect(plan).toContain("10.1.20.5")
    expect(printed.get("catalog-of-a-source.ts")).toMatch(/not_installed/u)
  },
  2 * minutes,
)

test("a tarball holds what is needed and nothing of the workspace", () => {
  for (const name of readdirSync(artifacts)) {
    const files = run("tar", ["-tzf", join(artifacts, name)], root)
      .split("\n")
      .filter(Boolean)
    expect(files).toContain("package/package.json")
    expect(files).toContain("package/dist/index.js")
    expect(files).toContain("package/dist/index.d.ts")
    expect(files.filter((f) => /(?:^|[/.])tests?[/.]|node_modules|tsconfig/u.test(f))).toEqual([])
    const manifest = run("tar", ["-xzOf", join(artifacts, name), "package/package.json"], root)
    expect(manifest).not.toMatch(/workspace:|catalog:/u)
  }
})
