import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { placesOf, systemPath, traceOf } from "./places.ts"
import { sandboxed } from "./sandbox.ts"

/** Whether tools can be isolated from the rest of this host, and if not, why. */
export type SandboxAvailability = { readonly works: true } | { readonly works: false; readonly because: string }

/** The operator's choice. `auto`: use it where it works. `required`: no tool runs without it. */
export type SandboxChoice = "auto" | "required" | "off"

const tryOnce = Effect.scoped(
  Effect.gen(function* () {
    const folder = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "rangewright-sandbox-"))),
      (path) => Effect.promise(() => rm(path, { recursive: true, force: true })),
    )
    const [program = "", ...args] = sandboxed(["true"], { folder, mounts: [] })
    const env = { PATH: systemPath, LC_ALL: "C.UTF-8" }
    return yield* Effect.callback<SandboxAvailability>((resume) => {
      execFile(program, args, { env, timeout: 20_000, cwd: "/" }, (error, _, stderr) => {
        if (error === null) return resume(Effect.succeed({ works: true }))
        const because = error.code === "ENOENT" ? "it is not installed" : stderr.trim().slice(0, 300) || error.message
        resume(Effect.succeed({ works: false, because: `bwrap: ${because}` }))
      })
    })
  }),
)

// a property of the host: once it worked, the result applies to all adapters of the process until the program changes
let tried: { readonly trace: string; readonly found: Promise<SandboxAvailability> } | undefined

const tryOf = (trace: string): Promise<SandboxAvailability> => {
  if (tried?.trace === trace) return tried.found
  const trial = { trace, found: Effect.runPromise(tryOnce) }
  const forget = (): void => {
    if (tried === trial) tried = undefined
  }
  tried = trial
  void trial.found.then(({ works }) => works || forget(), forget)
  return trial.found
}

/**
 * Tries the sandbox, unless it is switched off, already being tried, or worked before. One that did not work is tried again, since it may
 * have been fixed.
 */
export const sandboxAvailability = (choice: SandboxChoice): Effect.Effect<SandboxAvailability> =>
  choice === "off"
    ? Effect.succeed({ works: false, because: "it is turned off" })
    : Effect.promise(async () => tryOf(await traceOf(placesOf("bwrap"))))

/** Why no tool may run at all; undefined when tools may. */
export const sandboxProblem = (choice: SandboxChoice, found: SandboxAvailability): string | undefined =>
  choice === "required" && !found.works ? `tools may only run in a sandbox, and ${found.because}` : undefined
