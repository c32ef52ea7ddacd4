/** Interprets a requirement: its name in the library, its origin, its versions. */
import { parentCollection } from "../catalog/needs.ts"
import type { CollectionRequirement, RoleRequirement } from "../source/content.ts"
import { guessCollection } from "../source/names.ts"
import { compareVersions, parseVersion, satisfiesPin } from "../source/version.ts"
import { withoutTrailing } from "../text.ts"
import { collectionSegments } from "./artifact.ts"

/** Roles and collections that are requested, or that something depends on. */
export interface Dependencies {
  readonly roles: ReadonlyArray<RoleRequirement>
  readonly collections: ReadonlyArray<CollectionRequirement>
}

/** A parsed requirement. */
export interface WantedArtifact {
  readonly type: "role" | "collection"
  /** The name as written in the requirement, for messages; may be empty. */
  readonly asked: string
  /** The name of its folder; undefined if only the content determines it. */
  readonly name: string | undefined
  /** A published name, or the URL that it comes from. `server`: the Galaxy server that publishes it, if it is not the operator's. */
  readonly origin:
    | { readonly from: "name"; readonly name: string; readonly server?: string }
    | { readonly from: "url"; readonly url: string }
    /** `folder`: its folder in the repository; absent: the root. */
    | { readonly from: "git"; readonly url: string; readonly folder?: string }
  readonly pin: string | undefined
}

/** Whether a requirement's text is an address (`https://…`, `git@host:path`), not a name. */
export const isRequirementUrl = (text: string): boolean => text.includes("://") || /^[^/:][^/:@]*@[^/:]+:/u.test(text)
const isArchive = (url: string): boolean => /\.(?:tar\.gz|tgz|tar|zip)$/iu.test(url)
const nonEmpty = (text: string | undefined): string | undefined => (text === undefined || text === "" ? undefined : text)

/** The last part of a URL, without `.git` or `.tar.gz`: the name that Ansible's tool gives a role from there. */
const nameInUrl = (url: string): string => {
  const last = url.slice(Math.max(url.lastIndexOf("/"), url.lastIndexOf(":")) + 1)
  return last
    .replace(/\.git$|\.tar\.gz$/u, "")
    .split(",", 1)
    .join("")
}

/**
 * Parses the requirement of a role. A plain text may be `name,version` or `name,version,alias`. A URL with an archive's extension is an
 * archive; every other URL is a git repository.
 */
export const wantedRole = (requirement: RoleRequirement): WantedArtifact => {
  const { src, scm } = requirement
  const [first = "", second, alias] = src === undefined ? (requirement.name ?? "").split(",") : [src]
  const git = first.startsWith("git+")
  const place = git ? first.slice("git+".length) : first
  const url = git || scm === "git" || isRequirementUrl(place)
  const given = nonEmpty(alias) ?? (src === undefined ? undefined : nonEmpty(requirement.name))
  return {
    type: "role",
    asked: nonEmpty(requirement.name) ?? place,
    name: given ?? (url ? nameInUrl(place) : place),
    origin: url ? { from: git || scm === "git" || !isArchive(place) ? "git" : "url", url: place } : { from: "name", name: place },
    pin: nonEmpty(requirement.version) ?? nonEmpty(second),
  }
}

/** Splits `url#/folder,ref`, the form in which Ansible's tool takes a collection from a repository. */
const inRepository = (
  text: string,
): { readonly url: string; readonly folder: string | undefined; readonly ref: string | undefined } => {
  const [place = "", ...refs] = text.split(",")
  const [url = "", ...folders] = place.split("#")
  const folder = withoutTrailing(folders.join("#").replace(/^\/+/u, ""), "/")
  return { url, folder: nonEmpty(folder), ref: nonEmpty(refs.join(",")) }
}

/** The operator's Galaxy server stands in for this one, which many requirements name although it is the default. */
const publicServer = /^https?:\/\/(?:old-)?galaxy\.ansible\.com(?:[:/]|$)/iu

/** Parses the requirement of a collection. The name is a URL if the type is `git`, or if it looks like one. */
export const wantedCollection = ({ name = "", version, source, type }: CollectionRequirement): WantedArtifact => {
  const place = type === "git" && source !== undefined && isRequirementUrl(source) ? source : name
  const git = type === "git" || place.startsWith("git+")
  const named = place.startsWith("git+") ? place.slice("git+".length) : place
  const from = git || (isRequirementUrl(named) && !isArchive(named)) ? "git" : isRequirementUrl(named) ? "url" : "name"
  const said = { type: "collection", asked: name, name: guessCollection(named) } as const
  if (from === "name") {
    const server = source !== undefined && isRequirementUrl(source) && !publicServer.test(source) ? { server: source } : {}
    return { ...said, origin: { from, name: named, ...server }, pin: nonEmpty(version) }
  }
  if (from === "url") return { ...said, origin: { from, url: named }, pin: nonEmpty(version) }
  const { url, folder, ref } = inRepository(named)
  const origin = { from, url, ...(folder === undefined ? {} : { folder }) } as const
  return { ...said, name: guessCollection(url), origin, pin: nonEmpty(version) ?? ref }
}

/** Parses all requirements. */
export const wantedIn = ({ roles, collections }: Dependencies): ReadonlyArray<WantedArtifact> => [
  ...roles.map(wantedRole),
  ...collections.map(wantedCollection),
]

/**
 * Whether a dependency is a role next to the one that needs it, not a published one: a role without a namespace, as Ansible's tool takes
 * it.
 */
export const isNeighbour = ({ type, asked, origin }: WantedArtifact): boolean =>
  type === "role" && origin.from === "name" && !asked.includes(".")

/** What provides a dependency: for a role of a collection, `<namespace>.<collection>.<role>`, that collection. */
export const providerOf = (wanted: WantedArtifact): WantedArtifact => {
  const { type, origin, pin } = wanted
  const name = type === "role" && origin.from === "name" ? parentCollection(origin.name) : undefined
  if (name === undefined || collectionSegments(name) === undefined) return wanted
  return { type: "collection", asked: name, name, origin: { from: "name", name }, pin }
}

const comparison = /^[<>!]/u

/**
 * Whether a version satisfies a pin, which may be several conditions separated by commas; `*` and no pin match everything. An unknown
 * version matches too, and a branch or commit, which does not tell its version, matches every comparison.
 */
export const fitsPin = (version: string | undefined, pin: string | undefined): boolean => {
  if (version === undefined || pin === undefined || version === pin) return true
  const isKnown = parseVersion(version) !== undefined
  return pin
    .split(",")
    .map((part) => part.trim())
    .every((part) => part === "" || part === "*" || (!isKnown && comparison.test(part)) || satisfiesPin(version, part))
}

/** The best matching version: the highest release, else the highest pre-release, else the last text that is not a version. */
export const bestVersion = (versions: ReadonlyArray<string>, pin: string | undefined): string | undefined =>
  versions
    .filter((version) => fitsPin(version, pin))
    .toSorted(byPreference)
    .at(-1)

const byPreference = (a: string, b: string): number => {
  const [one, other] = [parseVersion(a), parseVersion(b)]
  if (one === undefined || other === undefined) return Number(one !== undefined) - Number(other !== undefined)
  const [early, late] = [one.prerelease.length > 0, other.prerelease.length > 0]
  return early === late ? compareVersions(one, other) : early ? -1 : 1
}
