/**
 * Bundles the service and the simulator of Proxmox into a few files in `dist/bundle`, which start twice as fast as the 2,000 modules they
 * are made of, and take half the memory. `main.js` is put in place last, in one step: an interrupted build leaves the previous one intact.
 */
import { mkdir, readdir, rename, rm, stat, utimes, writeFile } from "node:fs/promises"
import { isBuiltin } from "node:module"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { type Plugin, rolldown } from "rolldown"
import type { ESTree } from "rolldown/utils"

const packages = fileURLToPath(new URL("../../", import.meta.url))
const target = join(packages, "server/dist/bundle")
const main = "main.js"
/** A running service may still load parts of the build it was started from. */
const kept = 24 * 60 * 60 * 1000

/** Modules that locate files relative to themselves, such as playbooks and threads, still find them from the bundle. */
const ownPlaces: Plugin = {
  name: "own-places",
  transform: {
    filter: { id: { include: new RegExp(`^${RegExp.escape(packages)}[a-z-]+/src/`, "u") }, code: "import.meta.url" },
    handler: (code, id) => ({
      code: code.replaceAll("import.meta.url", `new URL(${JSON.stringify(relative(target, id))}, import.meta.url).href`),
      map: null,
    }),
  },
}

/** The names of an import as declarations. */
const declarationsOf = ({ specifiers, source }: ESTree.ImportDeclaration): string => {
  const module = `process.getBuiltinModule(${JSON.stringify(source.value)})`
  const whole = specifiers.filter((one) => one.type !== "ImportSpecifier").map(({ local }) => `${local.name} = ${module}`)
  const named = specifiers
    .filter((one) => one.type === "ImportSpecifier")
    .map(({ imported, local }) => `${"name" in imported ? imported.name : imported.value}: ${local.name}`)
  return `const ${[...whole, ...(named.length > 0 ? [`{ ${named.join(", ")} } = ${module}`] : [])].join(", ")};`
}

/**
 * Loads Node's built-in modules as `require` does. An `import` reads every export of the module, and reading those of `node:http` loads a
 * whole HTTP client that nobody uses.
 */
const builtins: Plugin = {
  name: "builtins",
  renderChunk(code) {
    const imports = this.parse(code).body.filter(
      (one) => one.type === "ImportDeclaration" && isBuiltin(one.source.value) && one.specifiers.length > 0,
    ) as ESTree.ImportDeclaration[]
    return imports.reduceRight((text, found) => text.slice(0, found.start) + declarationsOf(found) + text.slice(found.end), code)
  },
}

/** A single character beyond Latin-1 doubles the memory V8 needs for a whole file. In strings and patterns an escape means the same. */
const inAscii = (code: string): string =>
  code.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)

const began = new Date()
/** Each program has files of its own: bundled together, the service would load what both need from the simulator's, which starts one. */
const bundle = async (entry: string, fileName: string) => {
  const build = await rolldown({
    input: join(packages, entry),
    platform: "node",
    // native modules that ssh2 can do without
    external: [/\.node$/u, "cpu-features"],
    plugins: [ownPlaces, builtins],
    // a dependency of Koa evaluates a function that it generated itself; how long a build takes is nobody's concern
    checks: { eval: false, bundlerTimings: false },
  })
  const { output } = await build.generate({
    format: "esm",
    entryFileNames: fileName,
    chunkFileNames: "[name]-[hash].js",
    // ssh2 uses it to locate a program that it ships
    intro: "const __dirname = import.meta.dirname",
    // keeps names: errors and stack traces show them
    minify: { compress: { keepNames: { function: true, class: true } }, mangle: false, codegen: { removeWhitespace: true } },
  })
  await build.close()
  return output
}
const output = [...(await bundle("pve-simulator/src/main.ts", "simulator.js")), ...(await bundle("server/src/main.ts", main))]

await mkdir(target, { recursive: true })
for (const file of output.toSorted((a, b) => Number(a.fileName === main) - Number(b.fileName === main))) {
  const path = join(target, file.fileName)
  const beside = `${path}.${process.pid}`
  await writeFile(beside, file.type === "chunk" ? inAscii(file.code) : file.source)
  // dated to the start of the build: a source changed meanwhile makes it stale
  await utimes(beside, began, began)
  await rename(beside, path)
}
const current = new Set(output.map(({ fileName }) => fileName))
for (const name of await readdir(target)) {
  const path = join(target, name)
  if (!current.has(name) && (await stat(path)).mtimeMs < Date.now() - kept) await rm(path)
}
