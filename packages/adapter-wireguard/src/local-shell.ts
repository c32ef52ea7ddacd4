import { type ShellCommand, ShellFault, type ShellResult } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"

const maxOutput = 1024 * 1024
const defaultTimeoutSeconds = 60

/** Where distributions install administration programs. */
const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/** Runs commands on the service's own host. */
export const localShell = ({
  program,
  args,
  input = "",
  timeoutSeconds = defaultTimeoutSeconds,
}: ShellCommand): Effect.Effect<ShellResult, ShellFault> =>
  Effect.callback<ShellResult, ShellFault>((resume) => {
    const options = { timeout: timeoutSeconds * 1000, killSignal: "SIGKILL", maxBuffer: maxOutput, env: { PATH: path } } as const
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      const fail = (detail: string) => resume(Effect.fail(new ShellFault({ doing: `run ${program} on this host`, detail })))
      if (error === null) return resume(Effect.succeed({ exitCode: 0, stdout, stderr }))
      if (error.code === "ENOENT")
        return resume(Effect.succeed({ exitCode: 127, stdout, stderr: `there is no program ${program}` }))
      if (typeof error.code === "number") return resume(Effect.succeed({ exitCode: error.code, stdout, stderr }))
      fail(error.killed === true ? `it did not end within ${timeoutSeconds} s` : error.message)
    })
    // a program may not read its input
    child.stdin?.on("error", () => undefined)
    child.stdin?.end(input)
    return Effect.sync(() => void child.kill("SIGKILL"))
  })
