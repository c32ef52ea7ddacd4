import { openToolHost, sandboxProblem } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import { ask, readVersion, versionProblem } from "../tool/host-ansible.ts"
import { type GalaxyOptions, galaxySettings } from "./galaxy-options.ts"

export type InstallerAvailability =
  | { readonly available: true; readonly version: string }
  | { readonly available: false; readonly because: string }

/** Whether `ansible-galaxy` can run on this host. Runs it to read its version, which takes a second. */
export const galaxyAvailability = (options: GalaxyOptions): Effect.Effect<InstallerAvailability> =>
  Effect.gen(function* () {
    const { program, tools } = galaxySettings(options)
    const { choice, sandbox } = yield* openToolHost(tools)
    const told = yield* ask(program, ["--version"])
    const { version } = readVersion(told.output)
    const tool = !told.ok ? told.because : version === undefined ? "it does not report its version" : versionProblem(version)
    const because = tool ?? sandboxProblem(choice, sandbox)
    return because === undefined ? { available: true, version: version ?? "" } : { available: false, because }
  })
