import { ContentFault, type GitAvailability } from "@rangewright/ports"
import { sandboxProblem, type ToolHost } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { environment } from "./command.ts"

/** http.curloptResolve, which pins a connection to the checked address, was added in this version. */
const oldest = [2, 37] as const

/** Reads the version of the host's git. */
export const gitAvailability = (program: string, host?: ToolHost): Effect.Effect<GitAvailability> => {
  const problem = host === undefined ? undefined : sandboxProblem(host.choice, host.sandbox)
  return problem === undefined ? askVersion(program) : Effect.succeed({ available: false, because: problem })
}

const askVersion = (program: string): Effect.Effect<GitAvailability> =>
  Effect.callback<GitAvailability>((resume) => {
    execFile(program, ["--version"], { env: { ...environment }, timeout: 10_000 }, (error, stdout) => {
      const none = (because: string) => resume(Effect.succeed({ available: false, because }))
      if (error !== null)
        return none(error.code === "ENOENT" ? "git is not installed on the service's host" : `git does not run: ${error.message}`)
      const [, version = "", major = "", minor = ""] = /\b(?<version>(\d+)\.(\d+)\S*)/u.exec(stdout) ?? []
      if (version === "") return none("git does not report its version")
      const enough = Number(major) > oldest[0] || (Number(major) === oldest[0] && Number(minor) >= oldest[1])
      return enough
        ? resume(Effect.succeed({ available: true, version }))
        : none(`git ${version} is too old; ${oldest.join(".")} or later is needed`)
    })
  })

export const requireGit = (doing: string, availability: GitAvailability): Effect.Effect<void, ContentFault> =>
  availability.available
    ? Effect.void
    : Effect.fail(
        new ContentFault({
          doing,
          reason: "unavailable",
          rule: "git",
          detail: availability.because,
          hint: "Install git on the service's host, or give the source as an archive.",
        }),
      )
