import * as Effect from "effect/Effect"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { runCommand } from "../src/run-command.ts"

/** On a busy machine a start takes long. */
const patience = 120_000

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rw-tool-"))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const megabyte = 1024 * 1024

const outcome = async (script: string, more: { readonly memoryBytes?: number; readonly outputBytes?: number } = {}) => {
  const { outputBytes = 64 * megabyte, ...limits } = more
  const lines: string[] = []
  const env = { PATH: "/usr/bin:/bin", HOME: join(folder, "home") }
  const command = { program: "/bin/sh", args: ["-c", script], env, folder, ...limits }
  const end = await Effect.runPromise(runCommand(command, outputBytes, (_, line) => void lines.push(line)))
  return { end, lines }
}

describe("a tool", { timeout: patience }, () => {
  it("tells how it ended, and its lines on either stream", async () => {
    expect(await outcome("echo a; echo b >&2; printf c; exit 3")).toEqual({
      end: { type: "exited", code: 3 },
      lines: expect.arrayContaining(["a", "b", "c"]) as string[],
    })
    expect((await outcome("kill -s TERM $$")).end).toEqual({ type: "killed", signal: "SIGTERM" })
  })

  it("that does not exist is reported as not started", async () => {
    const command = { program: "no-such-tool", args: [], env: { PATH: "/usr/bin:/bin" }, folder }
    expect(await Effect.runPromise(runCommand(command, megabyte, () => undefined))).toEqual({
      type: "not-started",
      because: "there is no program no-such-tool",
    })
  })

  it.each([
    ["in one line", "head -c 1073741824 /dev/zero | tr '\\0' x"],
    ["in lines", "yes a line like any other | head -c 1073741824"],
  ])("that prints a gigabyte %s is ended at its limit, and no line is longer than lines are", async (_, script) => {
    const { end, lines } = await outcome(script)
    expect(end).toEqual({ type: "flooded" })
    expect(lines.reduce((sum, line) => sum + line.length, 0)).toBeLessThan(65 * megabyte)
    for (const line of lines) if (line.length > 4 * megabyte) expect.fail(`a line of ${line.length} characters`)
  })

  it("gets no more memory than it may have", async () => {
    const script = `python3 -c "x = bytearray(512 * 1024 * 1024); print('had it')"`
    expect((await outcome(script)).lines).toEqual(["had it"])
    const { end, lines } = await outcome(script, { memoryBytes: 256 * megabyte })
    expect(end).toEqual({ type: "exited", code: 1 })
    expect(lines.join("\n")).toContain("MemoryError")
  })

  it("has no terminal and no input, and processes it leaves behind end with it", async () => {
    const script = `readlink /proc/self/fd/0; [ -e /proc/$$/fd/3 ] || echo none; tty; setsid -f sleep 54321.${process.pid}`
    expect(await outcome(script)).toEqual({ end: { type: "exited", code: 0 }, lines: ["/dev/null", "none", "not a tty"] })
    const { lines: left } = await outcome(`pgrep -fx 'sleep 54321.${process.pid}' || echo none`)
    expect(left).toEqual(["none"])
  })
})
