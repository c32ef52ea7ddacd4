import { execFileSync, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, test } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const artifacts = join(root, "artifacts")
const minutes = 60_000
let project: string
/** Has other versions of Node and TypeScript. */
let programs: string

const examples = readdirSync(join(root, "examples/embed")).filter((file) => file.endsWith(".ts"))
/** Serves until it is told to stop, with packages that need the service's version of Node. */
const service = "serve-the-api.ts"
/** The oldest versions that packages promise, those in between, and that of the service. */
const nodes = { 20: "20.20.2", 22: "22.23.3" } as const
const olderCompiler = "5.9.3"
const libraries = (): readonly string[] =>
  readdirSync(artifacts).flatMap((file) => /^rangewright-(.*)-\d+\.\d+\.\d+\.tgz$/u.exec(file)?.[1] ?? [])

const run = (program: string, args: readonly string[], cwd: string): string =>
  execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], timeout: 5 * minutes })

/** The compiler's messages on a project; empty if it compiles. Several checkers at once would repeat each other's work. */
const compile = (compiler: string, file: string): string => {
  const alone = compiler.includes("older") ? [] : ["--checkers", "1"]
  const { stdout, stderr } = spawnSync(process.execPath, [join(compiler, "bin/tsc"), "-p", file, ...alone], {
    cwd: project,
    encoding: "utf8",
  })
  // a compiler that is not there says so on the other stream
  return stdout + stderr
}

/** The version that the workspace pins. */
const pinned = (name: string): string =>
  (JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")) as { version: string }).version

/** Installed by pnpm, which unpacks them once for all runs. */
const installPrograms = (): void => {
  programs = mkdtempSync(join(tmpdir(), "rangewright-programs-"))
  const otherNodes = Object.entries(nodes).map(([major, version]) => [
    `node${major}`,
    `npm:node-linux-${process.arch}@${version}`,
  ])
  const dependencies = { ...Object.fromEntries(otherNodes), "older-typescript": `npm:typescript@${olderCompiler}` }
  writeFileSync(join(programs, "package.json"), JSON.stringify({ name: "programs", private: true, dependencies }))
  const options = ["--prefer-offline", "--ignore-scripts", "--reporter=append-only"]
  run("sh", ["tools/run.sh", "pnpm", "--dir", programs, "install", ...options], root)
}

beforeAll(() => {
  installPrograms()
  project = mkdtempSync(join(tmpdir(), "rangewright-outside-"))
  rmSync(artifacts, { recursive: true, force: true })
  run("sh", ["tools/run.sh", "pack"], root)
  const tarballs = libraries().map(
    (name) => [`@rangewright/${name}`, `file:${join(artifacts, `rangewright-${name}-0.1.0.tgz`)}`] as const,
  )
  const ours = Object.fromEntries(tarballs)
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({
      name: "outside",
      private: true,
      type: "module",
      dependencies: { ...ours, effect: pinned("effect") },
      devDependencies: { "@types/node": pinned("@types/node") },
      overrides: Object.fromEntries(tarballs.map(([name]) => [name, `$${name}`])),
    }),
  )
  const projectOf = (file: string, compilerOptions: Readonly<Record<string, unknown>>, include: readonly string[]) =>
    writeFileSync(
      join(project, file),
      JSON.stringify({ compilerOptions: { target: "es2022", types: ["node"], strict: true, ...compilerOptions }, include }),
    )
  projectOf("tsconfig.json", { module: "nodenext", skipLibCheck: false, outDir: "out" }, ["*.ts"])
  projectOf("tsconfig.node16.json", { module: "node16", skipLibCheck: false, noEmit: true }, ["*.ts"])
  projectOf("tsconfig.bundler.json", { module: "esnext", moduleResolution: "bundler", skipLibCheck: false, noEmit: true }, [
    "*.ts",
  ])
  projectOf("tsconfig.readme.json", { module: "nodenext", skipLibCheck: true, noEmit: true }, ["readme/*.ts"])
  mkdirSync(join(project, "readme"))
  for (const name of libraries()) {
    const readme = run("tar", ["-xzOf", join(artifacts, `rangewright-${name}-0.1.0.tgz`), "package/README.md"], root)
    const code = /```ts\n(.*?)```/su.exec(readme)?.[1]
    if (code !== undefined) writeFileSync(join(project, "readme", `${name}.ts`), code)
  }
  for (const example of examples) cpSync(join(root, "examples/embed", example), join(project, example))
  writeFileSync(
    join(project, "every-library.ts"),
    libraries()
      .map((name) => `import "@rangewright/${name}"\n`)
      .join(""),
  )
  run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"], project)
}, 10 * minutes)

afterAll(() => {
  for (const folder of [project, programs]) rmSync(folder, { recursive: true, force: true })
})

test.each([
  ["TypeScript 7", "typescript", "tsconfig.json"],
  ["TypeScript 7", "typescript", "tsconfig.bundler.json"],
  ["TypeScript 5.9", "older-typescript", "tsconfig.node16.json"],
])(
  "with %s the examples and every library compile in an outside project with all types checked (%s, %s)",
  { timeout: 2 * minutes },
  (_, name, file) => {
    expect(compile(join(name === "typescript" ? root : programs, "node_modules", name), file)).toBe("")
  },
)

test("the code of each README compiles", { timeout: 2 * minutes }, () => {
  expect(readdirSync(join(project, "readme")).length).toBe(libraries().length)
  expect(compile(join(root, "node_modules/typescript"), "tsconfig.readme.json")).toBe("")
})

const compiled = (example: string): string => `./out/${example.replace(/\.ts$/u, ".js")}`
const expectPrinted = (printed: ReadonlyMap<string, string>): void => {
  expect([...printed].filter(([, text]) => text.trim() === "")).toEqual([])
  expect(printed.get("plan-a-range.ts")).toContain("Plan for range LAB")
  expect(printed.get("read-a-catalog.ts")).toMatch(/not_installed/u)
}
const finishing = examples.filter((example) => example !== service)

// one after another in one process, which loads the libraries once
const own = process.versions.node.replace(/\..*/u, "")
test.each([...Object.keys(nodes), own])("every example runs on Node %s", { timeout: 2 * minutes }, (major) => {
  const node = major === own ? process.execPath : join(programs, "node_modules", `node${major}`, "bin/node")
  expect(run(node, ["--version"], project)).toMatch(new RegExp(`^v${major}\\.`, "u"))
  const mark = "=== the next example ===\n"
  const all = join(project, "every-example.mjs")
  writeFileSync(
    all,
    finishing.map((example) => `process.stdout.write(${JSON.stringify(mark)})\nawait import("${compiled(example)}")\n`).join(""),
  )
  const texts = run(node, [all], project).split(mark).slice(1)
  expect(texts).toHaveLength(finishing.length)
  expectPrinted(new Map(finishing.map((example, n) => [example, texts[n] ?? ""])))
})

test("a service of another program serves the whole API beside its own routes, until it is told to stop", async () => {
  const data = mkdtempSync(join(project, "data-"))
  const child = spawn(process.execPath, [join("out", service.replace(/\.ts$/u, ".js"))], {
    cwd: project,
    env: { ...process.env, DATA: data },
    stdio: ["ignore", "pipe", "inherit"],
  })
  try {
    const [line] = (await once(child.stdout, "data")) as [Buffer]
    const url = line.toString().trim()
    const key = readFileSync(join(data, "root-key"), "utf8")
    const user = { userID: "ANN", name: "Ann", email: "ann@lab.example", isAdmin: true }
    const made = await fetch(`${url}/api/v2/user`, {
      method: "POST",
      headers: { "X-API-KEY": key, "Content-Type": "application/json" },
      body: JSON.stringify(user),
    })
    expect(await made.json()).toMatchObject({ userID: "ANN" })
    // it has no probes
    expect((await fetch(`${url}/healthz`)).status).toBe(404)
    expect(await (await fetch(`${url}/labs`)).json()).toEqual([{ id: "ANN", name: "Default range of Ann" }])
  } finally {
    child.kill("SIGTERM")
  }
  expect((await once(child, "exit"))[0]).toBe(0)
})

test("a tarball has everything needed and nothing of the workspace", () => {
  for (const name of readdirSync(artifacts)) {
    const files = run("tar", ["-tzf", join(artifacts, name)], root)
      .split("\n")
      .filter(Boolean)
    for (const file of ["package.json", "README.md", "LICENSE"]) expect(files).toContain(`package/${file}`)
    expect(files).toContain("package/dist/index.js")
    expect(files).toContain("package/dist/index.d.ts")
    expect(files.filter((f) => /(?:^|[/.])tests?[/.]|node_modules|tsconfig/u.test(f))).toEqual([])
    const manifest = run("tar", ["-xzOf", join(artifacts, name), "package/package.json"], root)
    expect(manifest).not.toMatch(/workspace:|catalog:/u)
  }
})
