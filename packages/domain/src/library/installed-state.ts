/** How a requirement stands to what is there already, before anything is looked up. */
import type { InstalledCopy } from "../catalog/installed.ts"
import { isArtifactName } from "./artifact.ts"
import { fitsPin, type WantedArtifact } from "./requirement.ts"

/** Versions of what is installed, by name; undefined: not known. */
export interface InstalledVersions {
  readonly roles: ReadonlyMap<string, string | undefined>
  readonly collections: ReadonlyMap<string, string | undefined>
}

/** The versions of what a scope holds. */
export const installedVersions = (scope: {
  readonly roles: ReadonlyArray<InstalledCopy>
  readonly collections: ReadonlyArray<InstalledCopy>
}): InstalledVersions => {
  const byName = (copies: ReadonlyArray<InstalledCopy>) => new Map(copies.map(({ name, version }) => [name, version]))
  return { roles: byName(scope.roles), collections: byName(scope.collections) }
}

/** What is said of a requirement for which nothing is to be fetched. */
export interface InstalledState {
  readonly decision: "present" | "other-version" | "failed"
  readonly type: "role" | "collection"
  readonly asked: string
  readonly version?: string | undefined
  /** For `other-version` and `failed`. */
  readonly because?: string
  /** For `failed`: its owner may keep no more. */
  readonly exceedsLimit?: true
}

/** What a copy that is there in another version than the wanted one is told of. The words are those of Ansible's tool. */
export const otherVersion = (name: string, have: string | undefined, want: string | undefined): string =>
  `${name} (${have ?? "unknown version"}) is already installed - use force to change version to ${want ?? "unspecified"}`

/** Why something cannot be had from a place that knows names. */
export const notPublished = "nothing is published under this name"
export const noSuchVersion = (versions: ReadonlyArray<string>, pin: string | undefined): string => {
  const first = versions.slice(0, 10).join(", ")
  const shown = versions.length > 10 ? `${first}, … (${versions.length} in all)` : first || "none"
  return `there is no version ${pin ?? ""}; there are: ${shown}`
}

/** Versions, conditions on them, branches and tags; nothing that a program takes for an option. */
const pinForm = /^[A-Za-z0-9<>=!*~^][A-Za-z0-9<>=!*~^._+,@/ -]{0,255}$/u

/** Why a requirement cannot be one at all, by its words alone; undefined where it can. */
export const requirementProblem = ({ type, name, origin, pin }: WantedArtifact): string | undefined => {
  if (pin !== undefined && !pinForm.test(pin)) return "that is not a valid version"
  const isNamed =
    (origin.from !== "name" || isArtifactName(type, origin.name)) && (name === undefined || isArtifactName(type, name))
  return isNamed ? undefined : `that is not a valid ${type} name`
}

/** What is to be said of a requirement before anything is looked up; undefined: it is to be installed. */
export const installedStateOf = (
  wanted: WantedArtifact,
  installed: ReadonlyMap<string, string | undefined>,
  force: boolean,
): InstalledState | undefined => {
  const { type, asked, name, pin } = wanted
  const because = requirementProblem(wanted)
  if (because !== undefined) return { decision: "failed", type, asked, because }
  // what a repository holds is known when it was fetched
  if (name === undefined || !installed.has(name) || force) return undefined
  const version = installed.get(name)
  return fitsPin(version, pin)
    ? { decision: "present", type, asked, version }
    : { decision: "other-version", type, asked, version, because: otherVersion(name, version, pin) }
}
