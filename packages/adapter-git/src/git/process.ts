import { ContentFault } from "@rangewright/ports"
import { limited, type Limits, prepareRun } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { dirname, isAbsolute, join } from "node:path"
import type { Readable } from "node:stream"
import { asFault } from "../faults.ts"
import { environment, type GitCommand, hardening } from "./command.ts"
import { failureOf } from "./failures.ts"

const maxErrors = 8_000

/** Kills the whole group, including git's own children (transport, index-pack, ssh). */
const kill = (child: ChildProcess): void => {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, "SIGKILL")
  } catch {
    // it has already ended
  }
}

const start = (command: GitCommand, git: readonly string[], limits: Limits): ChildProcess => {
  const [program = "", ...args] = limited(git, { ...limits, fileBytes: command.fileBytes, memoryBytes: command.memoryBytes })
  return spawn(program, args, {
    cwd: "/",
    env: { ...environment, ...command.env },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  })
}

interface Prepared {
  readonly git: readonly string[]
  readonly limits: Limits
}

/**
 * Runs git in a sandbox if that works. Without one it runs directly: it connects only to checked addresses, and executes nothing from a
 * remote.
 */
const confined = (command: GitCommand): Effect.Effect<Prepared, ContentFault, Scope.Scope> => {
  const { doing, program, repository, config, args, confinement } = command
  const { host, scratch, mounts, servers } = confinement
  const settings = config.flatMap((setting) => ["-c", setting])
  const git = [program, ...hardening, ...settings, `--git-dir=${repository}`, ...args]
  if (!host.sandbox.works) return Effect.succeed({ git, limits: {} })
  return Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.tryPromise(() => mkdtemp(join(scratch, "git-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true, force: true })),
    )
    const seen = [...mounts, ...(isAbsolute(program) ? [dirname(program)] : [])].map((from) => ({ from }))
    const { confine, limits } = yield* prepareRun(host, {
      folder,
      mounts: [...seen, { from: repository, writable: true }],
      reach: { networks: [], servers, internet: false },
    })
    return { git: confine(git), limits }
  }).pipe(Effect.mapError(asFault(doing)))
}

/** Progress lines end with a carriage return, messages with a newline. */
const eachLine = (stream: Readable, take: (line: string) => void): void => {
  let rest = ""
  stream.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split(/[\r\n]+/u)
    rest = (lines.pop() ?? "").slice(-maxErrors)
    lines.forEach(take)
  })
  stream.on("end", () => take(rest))
}

/**
 * Runs git while `consume` reads its output. Succeeds when both do. When one fails, or the fiber is interrupted, the whole process group is
 * killed. An error thrown by `consume` or `onLine` takes precedence over git's own message.
 */
export const runGit = <A>(
  command: GitCommand,
  consume: (output: Readable) => Promise<A>,
  onLine: (line: string) => void = () => {},
): Effect.Effect<A, ContentFault> =>
  Effect.scoped(
    Effect.flatMap(confined(command), ({ git, limits }) => watchGit(command, start(command, git, limits), consume, onLine)),
  )

const watchGit = <A>(
  command: GitCommand,
  child: ChildProcess,
  consume: (output: Readable) => Promise<A>,
  onLine: (line: string) => void,
): Effect.Effect<A, ContentFault> =>
  Effect.callback<A, ContentFault>((resume) => {
    const { stdin, stdout, stderr } = child
    if (stdin === null || stdout === null || stderr === null) throw new Error("git was started without its pipes")
    let errors = ""
    let cause: unknown
    const end = () => {
      kill(child)
      // unread output would keep the pipe, and thus the child, open
      stdout.destroy()
    }
    const stop = (why: unknown) => {
      cause ??= why
      end()
    }
    // a reader that ends early breaks the pipe; the exit status tells the reason
    stdin.on("error", () => {})
    stdin.end(command.input ?? "")
    eachLine(stderr, (line) => {
      errors = `${errors}${line}\n`.slice(-maxErrors)
      try {
        onLine(line)
      } catch (why) {
        stop(why)
      }
    })
    const ended = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve))
    const consumed = consume(stdout)
    for (const promise of [ended, consumed]) promise.catch(stop)
    // nothing may still run when the folders are removed
    const over = Promise.allSettled([ended, consumed]).then(([exit, value]) => {
      if (cause !== undefined) return resume(Effect.fail(asFault(command.doing)(cause)))
      if (exit.status === "rejected" || value.status === "rejected") return
      resume(exit.value === 0 ? Effect.succeed(value.value) : Effect.fail(failureOf(command.doing, exit.value, errors)))
    })
    return Effect.promise(() => {
      end()
      return over
    })
  })

/** All output of git, at most `limit` bytes. */
export const collect =
  (doing: string, limit: number) =>
  async (output: Readable): Promise<Buffer> => {
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of output as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit) throw new ContentFault({ doing, reason: "too-large", rule: "output", detail: "git's answer is too long" })
      chunks.push(chunk)
    }
    return Buffer.concat(chunks)
  }
