import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { sandboxed } from "./sandbox.ts"

/** Whether tools can be kept from the rest of this host, and if not, why. */
export type SandboxAvailability = { readonly works: true } | { readonly works: false; readonly because: string }

/** How the operator wants it. `auto`: where it works. `required`: no tool runs without. */
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

/** Where programs of the system are found. */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// a fact of the host: one look serves all adapters of the process
const known = Effect.runSync(Effect.cached(tryOnce))

/** Tries the sandbox once for the life of this process, unless it is switched off. */
export const sandboxAvailability = (choice: SandboxChoice): Effect.Effect<SandboxAvailability> =>
  choice === "off" ? Effect.succeed({ works: false, because: "it is switched off" }) : known

/** Why no tool may run at all; undefined where one may. */
export const sandboxProblem = (choice: SandboxChoice, found: SandboxAvailability): string | undefined =>
  choice === "required" && !found.works ? `tools may only run in a sandbox, and ${found.because}` : undefined
