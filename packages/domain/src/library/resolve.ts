import type { InstalledCopy } from "../catalog/installed.ts"
import type { CollectionRequirement, RoleRequirement } from "../source/content.ts"
import { isArtifactName } from "./artifact.ts"
import { bestVersion, fitsPin, type WantedArtifact, wantedCollection, wantedRole } from "./requirement.ts"

/** What can be had of one name: each version with what it needs. */
export type PublishedVersions = ReadonlyMap<string, Dependencies>
export interface Dependencies {
  readonly roles: ReadonlyArray<RoleRequirement>
  readonly collections: ReadonlyArray<CollectionRequirement>
}
/** Roles and collections that a place offers, by name. */
export interface Published {
  readonly roles: ReadonlyMap<string, PublishedVersions>
  readonly collections: ReadonlyMap<string, PublishedVersions>
}

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

/** What is to be done about one requirement, or about something that one needs. */
export type Decision =
  /** To be installed as `name`, from what is published as `origin`. */
  | {
      readonly decision: "install"
      readonly type: "role" | "collection"
      readonly asked: string
      readonly name: string
      readonly origin: string
      readonly version: string
    }
  | {
      readonly decision: "present"
      readonly type: "role" | "collection"
      readonly asked: string
      readonly version: string | undefined
    }
  | {
      readonly decision: "other-version" | "failed"
      readonly type: "role" | "collection"
      readonly asked: string
      readonly version?: string
      readonly because: string
    }

/** What is decided without anything to be fetched. */
export type SettledDecision = Exclude<Decision, { readonly decision: "install" }>

/** What a copy that is there in another version than the wanted one is told of. The words are those of Ansible's tool (contract C 9.1). */
export const otherVersion = (name: string, have: string | undefined, want: string | undefined): string =>
  `${name} (${have ?? "unknown version"}) is already installed - use force to change version to ${want ?? "unspecified"}`

/** How many things one request may bring in: a chain of needs must end. */
const mostDecisions = 1000

/**
 * Decides what to install so that all is there that is asked for, and what that needs. Each name is decided once, by whoever names it
 * first. `force` is for what is asked for, not for what it needs.
 */
export const decideInstalls = (
  asked: Dependencies,
  installed: InstalledVersions,
  published: Published,
  force: boolean,
): ReadonlyArray<Decision> => {
  const decisions = new Map<string, Decision>()
  const pending: Array<{ readonly wanted: WantedArtifact; readonly needed: boolean }> = wantedOf(asked, false)
  for (let next = pending.shift(); next !== undefined && decisions.size < mostDecisions; next = pending.shift()) {
    const { wanted, needed } = next
    const key = `${wanted.type} ${wanted.name ?? wanted.asked}`
    if (decisions.has(key)) continue
    const offered = wanted.type === "role" ? published.roles : published.collections
    const have = wanted.type === "role" ? installed.roles : installed.collections
    // a role without a namespace is one of the same folder, not one of the place (as the field's tool takes it)
    if (
      needed &&
      wanted.type === "role" &&
      wanted.origin.from === "name" &&
      !wanted.asked.includes(".") &&
      !offered.has(wanted.asked)
    )
      continue
    const decision = decide(wanted, have, offered, force && !needed)
    if (needed && decision.decision === "present") continue
    decisions.set(key, decision)
    if (decision.decision === "install") {
      const needs = offered.get(decision.origin)?.get(decision.version)
      if (needs !== undefined) pending.push(...wantedOf(needs, true))
    }
  }
  return [...decisions.values()]
}

/** A role that is needed and has no namespace is one that lies beside the other, not one of the place (as Ansible's tool takes it). */
export const isNeighbour = ({ type, asked, origin }: WantedArtifact): boolean =>
  type === "role" && origin.from === "name" && !asked.includes(".")

/** Everything that is asked for, understood. */
export const wantedIn = ({ roles, collections }: Dependencies): ReadonlyArray<WantedArtifact> => [
  ...roles.map(wantedRole),
  ...collections.map(wantedCollection),
]

const wantedOf = (dependencies: Dependencies, needed: boolean) => wantedIn(dependencies).map((wanted) => ({ wanted, needed }))

const decide = (
  wanted: WantedArtifact,
  installed: ReadonlyMap<string, string | undefined>,
  offered: ReadonlyMap<string, PublishedVersions>,
  force: boolean,
): Decision => {
  const { type, asked, name, origin, pin } = wanted
  const standing = standingOf(wanted, installed, force)
  if (standing !== undefined) return standing
  if (name === undefined || origin.from !== "name") return failed(wanted, "it comes from a URL, which is not looked up by name")
  const versions = offered.get(origin.name)
  if (versions === undefined) return failed(wanted, notPublished)
  const version = bestVersion([...versions.keys()], pin)
  if (version === undefined) return failed(wanted, noSuchVersion([...versions.keys()], pin))
  return { decision: "install", type, asked, name, origin: origin.name, version }
}

const failed = ({ type, asked }: WantedArtifact, because: string): SettledDecision => ({
  decision: "failed",
  type,
  asked,
  because,
})

/** Why something cannot be had from a place that knows names. */
export const notPublished = "nothing is published under this name"
export const noSuchVersion = (versions: ReadonlyArray<string>, pin: string | undefined): string => {
  const first = versions.slice(0, 10).join(", ")
  const shown = versions.length > 10 ? `${first}, … (${versions.length} in all)` : first || "none"
  return `there is no version ${pin ?? ""}; there are: ${shown}`
}

/** Versions, conditions on them, branches and tags; nothing that a program takes for an option. */
const pinForm = /^[A-Za-z0-9<>=!*~^][A-Za-z0-9<>=!*~^._+,@/ -]{0,255}$/u

/** What is to be said of a requirement before anything is looked up; undefined: it is to be installed. */
export const standingOf = (
  wanted: WantedArtifact,
  installed: ReadonlyMap<string, string | undefined>,
  force: boolean,
): SettledDecision | undefined => {
  const { type, asked, name, origin, pin } = wanted
  if (pin !== undefined && !pinForm.test(pin)) return failed(wanted, "no version can be written so")
  if (origin.from === "name" && !isArtifactName(type, origin.name)) return failed(wanted, `no ${type} can be called so`)
  // what a repository holds is known when it was fetched
  if (name === undefined) return undefined
  if (!isArtifactName(type, name)) return failed(wanted, `no ${type} can be called so`)
  if (!installed.has(name) || force) return undefined
  const version = installed.get(name)
  if (fitsPin(version, pin)) return { decision: "present", type, asked, version }
  const have = version === undefined ? {} : { version }
  return { decision: "other-version", type, asked, ...have, because: otherVersion(name, version, pin) }
}
