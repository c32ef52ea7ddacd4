/** Compares a requirement with what is installed, before anything is looked up. */
import type { InstalledCopy } from "../catalog/installed.ts"
import { isArtifactName } from "./artifact.ts"
import { fitsPin, type WantedArtifact } from "./requirement.ts"

/** Installed versions by name; undefined if unknown. */
export interface InstalledVersions {
  readonly roles: ReadonlyMap<string, string | undefined>
  readonly collections: ReadonlyMap<string, string | undefined>
}

/** The versions of the artifacts in a scope. */
export const installedVersions = (scope: {
  readonly roles: ReadonlyArray<InstalledCopy>
  readonly collections: ReadonlyArray<InstalledCopy>
}): InstalledVersions => {
  const byName = (copies: ReadonlyArray<InstalledCopy>) => new Map(copies.map(({ name, version }) => [name, version]))
  return { roles: byName(scope.roles), collections: byName(scope.collections) }
}

/** The state of a requirement for which nothing is fetched. */
export interface InstalledState {
  readonly decision: "present" | "other-version" | "failed"
  readonly type: "role" | "collection"
  readonly asked: string
  readonly version?: string | undefined
  /** For `other-version` and `failed`. */
  readonly because?: string
  /** For `failed`: its owner has reached a limit. */
  readonly exceedsLimit?: true
}

/** The message for a copy installed in another version than the requested one. Its wording is that of Ansible's tool. */
export const otherVersion = (name: string, have: string | undefined, want: string | undefined): string =>
  `${name} (${have ?? "unknown version"}) is already installed - use force to change version to ${want ?? "unspecified"}`

/** Reasons why an item is not available from a server that publishes items by name. */
export const notPublished = "nothing is published under this name"
export const noSuchVersion = (versions: ReadonlyArray<string>, pin: string | undefined): string => {
  const first = versions.slice(0, 10).join(", ")
  const shown = versions.length > 10 ? `${first}, … (${versions.length} in all)` : first || "none"
  return `there is no version ${pin ?? ""}; available versions: ${shown}`
}

/** Versions, conditions, branches and tags; nothing that a program takes for an option. */
const pinForm = /^[A-Za-z0-9<>=!*~^][A-Za-z0-9<>=!*~^._+,@/ -]{0,255}$/u

/** The URL of a Galaxy server; no credentials, which would show up in lists and logs. */
const serverForm = /^https?:\/\/[^\s@?#]+$/u

/** Why a requirement is malformed; undefined if it is not. */
export const requirementProblem = ({ type, name, origin, pin }: WantedArtifact): string | undefined => {
  if (pin !== undefined && !pinForm.test(pin)) return "that is not a valid version"
  if (origin.from === "name" && origin.server !== undefined && !serverForm.test(origin.server))
    return "its source is not a plain URL of a Galaxy server"
  const isNamed =
    (origin.from !== "name" || isArtifactName(type, origin.name)) && (name === undefined || isArtifactName(type, name))
  return isNamed ? undefined : `that is not a valid ${type} name`
}

/** The state of a requirement before anything is looked up; undefined if it must be installed. */
export const installedStateOf = (
  wanted: WantedArtifact,
  installed: ReadonlyMap<string, string | undefined>,
  force: boolean,
): InstalledState | undefined => {
  const { type, asked, name, pin } = wanted
  const because = requirementProblem(wanted)
  if (because !== undefined) return { decision: "failed", type, asked, because }
  // the name of a repository's content is known only after fetching
  if (name === undefined || !installed.has(name) || force) return undefined
  const version = installed.get(name)
  return fitsPin(version, pin)
    ? { decision: "present", type, asked, version }
    : { decision: "other-version", type, asked, version, because: otherVersion(name, version, pin) }
}
