import { gitAvailability } from "@rangewright/adapter-git"
import * as Effect from "effect/Effect"
import type { Config } from "../config/config.ts"
import { ok, warn, type Finding } from "./finding.ts"

/** What sources need on this host. */
export const checkContent = (config: Config): Effect.Effect<readonly Finding[]> =>
  Effect.map(gitAvailability(config.git), (git) => [
    git.available
      ? ok("git", git.version)
      : warn(
          "git",
          git.because,
          "Install git on this host (or set `git`); without it, sources come from archives and folders only.",
        ),
  ])
