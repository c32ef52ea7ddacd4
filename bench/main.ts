/** `npm run bench [-- name …] [--quick]`: runs the benchmarks of this folder, all or the named ones, each in a process of its own. */
import { spawnSync } from "node:child_process"
import { readdirSync } from "node:fs"
import { availableParallelism, cpus, loadavg } from "node:os"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"

const ending = ".bench.ts"
const folder = new URL("./", import.meta.url)

const known = readdirSync(folder)
  .filter((file) => file.endsWith(ending))
  .map((file) => file.slice(0, -ending.length))
  .toSorted()

const usage = `usage: npm run bench [-- name ...] [--quick]

  names     ${known.join(", ")}; none: all
  --quick   fewer ranges and shorter rounds: shows whether it runs, not how fast
`

interface Wish {
  readonly names: readonly string[]
  readonly quick: boolean
  readonly help: boolean
}

const readWish = (): Wish | string => {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { quick: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
    })
    const unknown = positionals.filter((name) => !known.includes(name))
    if (unknown.length > 0) return `there is no benchmark ${unknown.join(", ")}`
    return { names: positionals.length === 0 ? known : positionals, ...values }
  } catch (error) {
    return (error as Error).message
  }
}

/** Returns false if the benchmark itself failed; a missed goal is not a failure. */
const run = (name: string, quick: boolean): boolean => {
  console.log(`\n## ${name}\n`)
  const script = fileURLToPath(new URL(name + ending, folder))
  const { status } = spawnSync(process.execPath, [script, ...(quick ? ["--quick"] : [])], { stdio: "inherit" })
  return status === 0
}

const wish = readWish()
if (typeof wish === "string") {
  console.error(`${wish}\n\n${usage}`)
  process.exitCode = 2
} else if (wish.help) console.log(usage)
else {
  console.log(
    `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${availableParallelism()} cores, ${cpus()[0]?.model.trim() ?? "unknown processor"}, load ${loadavg()[0]?.toFixed(1)}`,
  )
  const failed = wish.names.filter((name) => !run(name, wish.quick))
  if (failed.length > 0) {
    console.error(`\nfailed: ${failed.join(", ")}`)
    process.exitCode = 1
  }
}
