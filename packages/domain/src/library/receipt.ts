/** What tells of an installed copy which version it is: the notes that Ansible's own tool writes and reads. */
import * as Result from "effect/Result"
import { readCollectionMetadata } from "../source/collection.ts"
import { readManifest } from "../source/manifest.ts"
import { roleVersion } from "../source/role.ts"

/** Where the tool notes when a role was installed, and in which version. */
export const roleReceiptFile = "meta/.galaxy_install_info"
/** Where a role's author may say its version. */
export const roleVersionFile = "meta/version.yml"

const longestVersion = 256
const known = (version: string | undefined): string | undefined =>
  version === undefined || version === "" || version === "*" || version.length > longestVersion ? undefined : version

const versionLine = /^version:(.*)$/mu
const singleQuoted = /^'(.*)'$/u

/** The version in a role's receipt. The tool writes `null` where it knows none. */
export const readRoleReceipt = (text: string): string | undefined => {
  const written = versionLine.exec(text)?.[1]?.trim() ?? ""
  if (written.startsWith('"')) return known(textOf(parseJson(written)))
  const version = singleQuoted.exec(written)?.[1] ?? written
  return version === "null" || version === "~" ? undefined : known(version)
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A role's receipt. `installedOn` is a date for people. Quoted, so that `1.10` stays `1.10`. */
export const writeRoleReceipt = (version: string | undefined, installedOn: string): string =>
  `install_date: ${JSON.stringify(installedOn)}\nversion: ${version === undefined ? "null" : JSON.stringify(version)}\n`

/** The version that a role's `meta/version.yml` says; what is no mapping says nothing. */
export const readRoleVersion = (text: string): string | undefined => {
  const read = readManifest(text)
  return Result.isSuccess(read) ? known(roleVersion(read.success, undefined)) : undefined
}

/** Metadata for a role that came without: a folder without them is no role to Ansible's tools. */
export const minimalRoleMetadata = "galaxy_info: {}\ndependencies: []\n"

/** What a collection says of itself; the name is `<namespace>.<name>`. */
export interface CollectionIdentity {
  readonly name: string
  readonly version?: string
  readonly description?: string
  /** Collections that it needs, with the versions that will do. */
  readonly dependencies: ReadonlyMap<string, string>
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** The `MANIFEST.json` of a built collection; undefined where it is none. */
export const readCollectionManifest = (text: string): CollectionIdentity | undefined => {
  const info = collectionInfo(text)
  const [namespace, name] = [textOf(info?.["namespace"]), textOf(info?.["name"])]
  if (info === undefined || namespace === undefined || name === undefined) return undefined
  const dependencies = isObject(info["dependencies"]) ? Object.entries(info["dependencies"]) : []
  const [version, description] = [known(textOf(info["version"])), textOf(info["description"])]
  return {
    name: `${namespace}.${name}`,
    dependencies: new Map(dependencies.flatMap(([fqcn, pin]) => (typeof pin === "string" ? [[fqcn, pin] as const] : []))),
    ...(version === undefined ? {} : { version }),
    ...(description === undefined ? {} : { description }),
  }
}

const collectionInfo = (text: string): Readonly<Record<string, unknown>> | undefined => {
  const root = parseJson(text)
  const info = isObject(root) ? root["collection_info"] : undefined
  return isObject(info) ? info : undefined
}

/** The `galaxy.yml` of a collection that was not built; undefined where it does not name one. */
export const readCollectionSource = (text: string): CollectionIdentity | undefined => {
  const root = readManifest(text)
  if (Result.isFailure(root)) return undefined
  const read = readCollectionMetadata(root.success)
  if (Result.isFailure(read)) return undefined
  const { name, description } = read.success
  const version = known(read.success.version)
  const needs = root.success.entries.get("dependencies")?.value
  const pins = needs?.kind === "map" ? [...needs.entries] : []
  return {
    name,
    dependencies: new Map(pins.flatMap(([fqcn, { value }]) => (value.kind === "scalar" ? [[fqcn, value.source] as const] : []))),
    ...(version === undefined ? {} : { version }),
    ...(description === undefined ? {} : { description }),
  }
}

/** The manifest of a collection that came without one, so that Ansible's tools see its version. */
export const writeCollectionManifest = ({ name, version, description }: Omit<CollectionIdentity, "dependencies">): string => {
  const [namespace, own] = name.split(".")
  const info = { namespace, name: own, version: version ?? "*", description: description ?? null }
  return `${JSON.stringify({ collection_info: info, format: 1 }, undefined, 1)}\n`
}
