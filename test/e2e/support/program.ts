import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

/** How a program ended. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A program of this repository as a process of its own. */
export interface Program {
  readonly pid: number
  /** Its output so far. */
  readonly stdout: () => string
  readonly stderr: () => string
  /** The first match of the pattern in its output on either stream; rejects when the program ends first, or after `patience`. */
  readonly says: (pattern: RegExp) => Promise<RegExpExecArray>
  readonly signal: (signal: NodeJS.Signals) => void
  readonly ended: Promise<Ending>
}

export interface ProgramOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** Prefix of the command, for example to run it on another host. */
  readonly launcher?: readonly string[]
  /** Where the launcher shows the repository to the program; its real place if absent. Ends with a slash. */
  readonly seenAt?: string
}

export const repository = fileURLToPath(new URL("../../../", import.meta.url))
/** The service as `npm start` runs it, and the simulator as `npm run simulator` does. */
export const entries = {
  server: "packages/server/dist/bundle/main.js",
  simulator: "packages/server/dist/bundle/simulator.js",
} as const

/** As in the scripts of package.json. */
const compileCache = `${repository}node_modules/.cache/v8`

/** The tests' own variables and the caller's configuration must not leak into a program under test. */
const cleanEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:RANGEWRIGHT_|VITEST|NODE_OPTIONS|NODE_ENV)/u.test(name)),
  )

/** Longest wait for expected output, in milliseconds: far more than it takes, so that only missing output fails. */
const patience = 60_000
const running = new Set<Program>()

const run = (command: string, args: readonly string[], { env = {}, cwd }: ProgramOptions): Program => {
  const child = spawn(command, args, {
    cwd: cwd ?? repository,
    env: { ...cleanEnvironment(), NODE_COMPILE_CACHE: compileCache, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  })
  const written = { stdout: "", stderr: "" }
  const listeners = new Set<() => void>()
  const tell = () => listeners.forEach((listener) => listener())
  for (const stream of ["stdout", "stderr"] as const)
    child[stream].setEncoding("utf8").on("data", (text: string) => {
      written[stream] += text
      tell()
    })
  const state: { ending?: Ending } = {}
  const ended = once(child, "close").then(([code, signal]): Ending => {
    state.ending = { code: code as number | null, signal: signal as NodeJS.Signals | null }
    running.delete(program)
    tell()
    return state.ending
  })
  const says: Program["says"] = (pattern) =>
    new Promise((resolve, reject) => {
      const give = (why: string) => {
        leave()
        reject(new Error(`${command} ${args.join(" ")}: ${why} without saying ${pattern}\n${written.stdout}\n${written.stderr}`))
      }
      const look = () => {
        const found = pattern.exec(written.stdout) ?? pattern.exec(written.stderr)
        if (found !== null) {
          leave()
          resolve(found)
        } else if (state.ending !== undefined) give(`ended with ${state.ending.code ?? state.ending.signal}`)
      }
      const timer = setTimeout(() => give("ran on"), patience)
      const leave = () => {
        clearTimeout(timer)
        listeners.delete(look)
      }
      listeners.add(look)
      look()
    })
  const program: Program = {
    pid: child.pid ?? 0,
    stdout: () => written.stdout,
    stderr: () => written.stderr,
    says,
    signal: (signal) => void child.kill(signal),
    ended,
  }
  running.add(program)
  return program
}

/** Starts the service's or the simulator's entry point with the Node that runs the tests. */
export const start = (entry: keyof typeof entries, args: readonly string[], options: ProgramOptions = {}): Program => {
  const { launcher = [], seenAt = repository } = options
  const there = (path: string) => (path.startsWith(repository) ? `${seenAt}${path.slice(repository.length)}` : path)
  const own = [process.execPath, `${repository}${entries[entry]}`].map(there)
  const [program = process.execPath, ...rest] = [...launcher, ...own, ...args]
  return run(program, rest, options)
}

/** Runs any command, as a person would type it. */
export const command = (name: string, args: readonly string[], options: ProgramOptions = {}): Program => run(name, args, options)

/** Kills processes that the tests of this file left running; call it after each test, or after all if they run concurrently. */
export const endAll = async (): Promise<void> => {
  const left = [...running]
  for (const program of left) program.signal("SIGKILL")
  await Promise.all(left.map((program) => program.ended))
}
