import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable } from "node:stream"
import { limited, type Limits, notJoined, notThere } from "./limited.ts"
import { endProcessesBelow } from "./processes.ts"

/** A program with its arguments and environment. Nothing is interpreted by a shell. */
export interface Command extends Limits {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Used by this program alone. `HOME` must lie below it; that identifies every process the program starts. */
  readonly folder: string
}

export type ProcessEnd =
  | { readonly type: "exited"; readonly code: number }
  | { readonly type: "killed"; readonly signal: string }
  /** It printed more than allowed, and was killed. */
  | { readonly type: "flooded" }
  | { readonly type: "not-started"; readonly because: string }

/** Why a long-running program ended: its last output, or else how it ended. */
export const whyItEnded = (name: string, said: string, end: ProcessEnd): string => {
  if (said.trim() !== "") return said.trim().slice(-500)
  if (end.type === "not-started") return end.because
  return end.type === "exited" ? `${name} ended with exit code ${end.code}` : `${name} was ended`
}

export type OutputStream = "stdout" | "stderr"

/** Longer lines are cut here; the rest of a result event is of no use to anybody. */
const longestLine = 4 * 1024 * 1024

/**
 * Blocks until the other end of its stdin is closed, which happens when the service dies, however it dies. Then kills every process with
 * its HOME below the folder `$2`, and the process group `$1`, which includes this script. Its own environment is empty, so the first step
 * does not match it.
 */
const guard = `read -r _
grep -lsF "HOME=$2/" /proc/[0-9]*/environ | while IFS=/ read -r _ _ id _; do kill -s KILL "$id"; done
kill -s KILL -- "-$1"`

/** Starts the guard, then execs the program. */
const launch = `env -i /bin/sh -c "$1" sh "$$" "$2" <&3 >/dev/null 2>&1 &
shift 2
exec "$@" 3<&-`

/** Kills the whole group, so that the tool's workers and connections end with it. */
const killGroup = (child: ChildProcess): void => {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, "SIGKILL")
  } catch {
    // it has already ended
  }
}

/** Calls `take` with each line; `cut` is true for a line that exceeded the longest length. */
const eachLine = (stream: Readable, take: (line: string, cut: boolean) => void): void => {
  let parts: string[] = []
  let length = 0
  let cut = false
  const add = (text: string) => {
    const room = longestLine - length
    if (text.length > room) cut = true
    if (room > 0) parts.push(text.slice(0, room))
    length = Math.min(longestLine, length + text.length)
  }
  const end = () => {
    take(parts.join(""), cut)
    parts = []
    length = 0
    cut = false
  }
  stream.setEncoding("utf8").on("data", (text: string) => {
    const lines = text.split("\n")
    for (const [index, line] of lines.entries()) {
      add(line)
      if (index < lines.length - 1) end()
    }
  })
  stream.on("end", () => (length > 0 || cut ? end() : undefined))
}

const endOf = ({ program, joins }: Command, code: number | null, signal: string | null): ProcessEnd => {
  if (code === null) return { type: "killed", signal: signal ?? "" }
  if (code === notThere) return { type: "not-started", because: `there is no program ${program}` }
  if (code === notJoined && joins !== undefined) return { type: "not-started", because: "its control group cannot be joined" }
  return { type: "exited", code }
}

/**
 * Runs a program in its own process group and calls `onLine` with each line it prints on stdout or stderr. Never fails: the result says how
 * it ended. When the fiber is interrupted, when more than `outputBytes` are printed, or when this process dies, the program is killed with
 * everything it started. The effect completes once the program and all its processes have ended.
 */
export const runCommand = (
  command: Command,
  outputBytes: number,
  onLine: (stream: OutputStream, line: string, cut: boolean) => void,
): Effect.Effect<ProcessEnd> =>
  Effect.callback<ProcessEnd>((resume) => {
    const tool = limited([command.program, ...command.args], command)
    const child = spawn("/bin/sh", ["-c", launch, "sh", guard, command.folder, ...tool], {
      cwd: command.folder,
      env: { ...command.env },
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      detached: true,
    })
    const [, stdout, stderr] = child.stdio
    let printed = 0
    let flooded = false
    const watch = (stream: Readable, name: OutputStream) => {
      stream.on("data", (text: string) => {
        printed += text.length
        if (printed <= outputBytes || flooded) return
        flooded = true
        killGroup(child)
      })
      eachLine(stream, (line, cut) => (flooded ? undefined : onLine(name, line, cut)))
    }
    if (stdout !== null) watch(stdout, "stdout")
    if (stderr !== null) watch(stderr, "stderr")
    const over = new Promise<void>((resolve) => {
      let rest = Promise.resolve()
      const end = (how: ProcessEnd) => {
        resume(Effect.succeed(how))
        resolve()
      }
      child.once("error", (error) => end({ type: "not-started", because: error.message }))
      // processes left behind would keep the pipes open
      child.once("exit", () => {
        killGroup(child)
        rest = endProcessesBelow(command.folder)
      })
      child.once("close", (code, signal) => {
        void rest.then(() => end(flooded ? { type: "flooded" } : endOf(command, code, signal)))
      })
    })
    return Effect.promise(() => {
      killGroup(child)
      return over
    })
  })
