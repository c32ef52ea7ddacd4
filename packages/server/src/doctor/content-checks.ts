import { galaxyAvailability } from "@rangewright/adapter-ansible"
import { gitAvailability } from "@rangewright/adapter-git"
import * as Effect from "effect/Effect"
import { statSync } from "node:fs"
import { galaxyOptions } from "../compose/library.ts"
import type { Config } from "../config/config.ts"
import { fail, ok, warn, type Finding } from "./finding.ts"

const gitFinding = (config: Config): Effect.Effect<Finding> =>
  Effect.map(gitAvailability(config.git), (git) =>
    git.available
      ? ok("git", git.version)
      : warn(
          "git",
          git.because,
          "Install git on this host (or set `git`); without it, sources come from archives and folders only.",
        ),
  )

/** Where published roles and collections come from. */
const publishedFinding = (config: Config): Effect.Effect<Finding> => {
  const { roleFolder: folder } = config
  if (folder !== undefined)
    return Effect.succeed(
      statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
        ? ok("role folder", folder)
        : fail("role folder", `there is no folder ${folder}`, "Create it, or choose another folder (role_folder)."),
    )
  return Effect.map(galaxyAvailability(galaxyOptions(config, config.data)), (galaxy) =>
    galaxy.available
      ? ok("ansible-galaxy", `from ansible-core ${galaxy.version}`)
      : warn(
          "ansible-galaxy",
          galaxy.because,
          "Install ansible-core 2.14 or later (or set `ansible_galaxy`); without it, no role or collection comes from a Galaxy server.",
        ),
  )
}

/** What sources, roles and collections need on this host. */
export const checkContent = (config: Config): Effect.Effect<readonly Finding[]> =>
  Effect.all([gitFinding(config), publishedFinding(config)], { concurrency: "unbounded" })
