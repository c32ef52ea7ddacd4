/** Reads and writes the version of an installed copy, in the files that Ansible's own tool uses. */
import * as Result from "effect/Result"
import { readCollectionMetadata } from "../source/collection.ts"
import { readManifest } from "../source/manifest.ts"
import { roleVersion } from "../source/role.ts"

/** The file in which the tool records when a role was installed, and in which version. */
export const roleReceiptFile = "meta/.galaxy_install_info"
/** The file in which a role's author may state its version. */
export const roleVersionFile = "meta/version.yml"

const longestVersion = 256
const known = (version: string | undefined): string | undefined =>
  version === undefined || version === "" || version === "*" || version.length > longestVersion ? undefined : version

const versionLine = /^version:(.*)$/mu
const singleQuoted = /^'(.*)'$/u

/** The version in a role's receipt. The tool writes `null` if it is unknown. */
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

/** Writes a role's receipt. `installedOn` is a date for display. The version is quoted, so that `1.10` stays `1.10`. */
export const writeRoleReceipt = (version: string | undefined, installedOn: string): string =>
  `install_date: ${JSON.stringify(installedOn)}\nversion: ${version === undefined ? "null" : JSON.stringify(version)}\n`

/** The version in a role's `meta/version.yml`; undefined if that is not a mapping. */
export const readRoleVersion = (text: string): string | undefined => {
  const read = readManifest(text)
  return Result.isSuccess(read) ? known(roleVersion(read.success, undefined)) : undefined
}

/** Metadata for a role without any: Ansible's tools do not treat a folder without metadata as a role. */
export const minimalRoleMetadata = "galaxy_info: {}\ndependencies: []\n"

/** The metadata of a collection; the name is `<namespace>.<name>`. */
export interface CollectionIdentity {
  readonly name: string
  readonly version?: string
  readonly description?: string
  /** The collections it depends on, with version conditions. */
  readonly dependencies: ReadonlyMap<string, string>
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** Reads the `MANIFEST.json` of a built collection; undefined if it is not valid. */
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

/** Reads the `galaxy.yml` of a collection that was not built; undefined if it is not valid. */
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

/** A manifest for a collection without one, so that Ansible's tools see its version. */
export const writeCollectionManifest = ({ name, version, description }: Omit<CollectionIdentity, "dependencies">): string => {
  const [namespace, own] = name.split(".")
  const info = { namespace, name: own, version: version ?? "*", description: description ?? null }
  return `${JSON.stringify({ collection_info: info, format: 1 }, undefined, 1)}\n`
}
