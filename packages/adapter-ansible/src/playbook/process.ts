import * as Effect from "effect/Effect"
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable } from "node:stream"

/** A program with everything it is given. No shell reads any of it. */
export interface Command {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
}

export type ProcessEnd =
  | { readonly type: "exited"; readonly code: number }
  | { readonly type: "killed"; readonly signal: string }
  /** It printed more than it may, and was killed. */
  | { readonly type: "flooded" }
  | { readonly type: "not-started"; readonly because: string }

export type OutputStream = "stdout" | "stderr"

/** A line is cut here; what a result event holds beyond is of no use to anybody. */
const longestLine = 4 * 1024 * 1024

/** The whole group: the tool's workers and connections go with it. */
const kill = (child: ChildProcess): void => {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, "SIGKILL")
  } catch {
    // it has ended by itself
  }
}

/** Calls `take` with each line; true in `cut` for one that was longer than any may be. */
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

/**
 * Runs a program in a process group of its own and calls `onLine` with each line that it prints, on either stream. Never fails: how it
 * ended is the answer. When the fiber is interrupted, or more than `outputBytes` are printed, the whole group is killed; the effect is
 * over when the program is.
 */
export const runCommand = (
  command: Command,
  outputBytes: number,
  onLine: (stream: OutputStream, line: string, cut: boolean) => void,
): Effect.Effect<ProcessEnd> =>
  Effect.callback<ProcessEnd>((resume) => {
    const child = spawn(command.program, command.args, {
      cwd: command.folder,
      env: { ...command.env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    })
    let printed = 0
    let flooded = false
    const watch = (stream: Readable, name: OutputStream) => {
      stream.on("data", (text: string) => {
        printed += text.length
        if (printed <= outputBytes || flooded) return
        flooded = true
        kill(child)
      })
      eachLine(stream, (line, cut) => (flooded ? undefined : onLine(name, line, cut)))
    }
    watch(child.stdout, "stdout")
    watch(child.stderr, "stderr")
    const over = new Promise<void>((resolve) => {
      const end = (how: ProcessEnd) => {
        resume(Effect.succeed(how))
        resolve()
      }
      child.once("error", (error) => end({ type: "not-started", because: error.message }))
      // what it started and left behind would keep its pipes open
      child.once("exit", () => kill(child))
      child.once("close", (code, signal) =>
        end(flooded ? { type: "flooded" } : code === null ? { type: "killed", signal: signal ?? "" } : { type: "exited", code }),
      )
    })
    return Effect.promise(() => {
      kill(child)
      return over
    })
  })
