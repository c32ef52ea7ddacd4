import { defaultTreeLimits, isRoleName, treeIntake } from "@rangewright/domain"
import { constants } from "node:fs"
import { open, readdir } from "node:fs/promises"
import { join } from "node:path"
import { parse } from "yaml"
import { CannotPack } from "../faults.ts"

/** A role of the folder, as it will be packed. */
export interface RoleFolder {
  readonly role: string
  readonly version: string
  readonly description: string
  /** Entitlements in its `meta/subscription.yml`; undefined when it names none. */
  readonly entitlements: readonly string[] | undefined
  readonly lastModified: Date
  /** Sorted by path. */
  readonly files: readonly RoleFile[]
}

export interface RoleFile {
  readonly path: string
  readonly executable: boolean
  readonly bytes: Buffer
  readonly modified: Date
}

const leftOut: ReadonlySet<string> = new Set([".git", ".DS_Store"])

const readOne = async (role: string, folder: string, path: string): Promise<RoleFile> => {
  const file = await open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const stat = await file.stat()
    if (!stat.isFile()) throw new CannotPack({ what: role, detail: `${path} is not a regular file` })
    if (stat.size > defaultTreeLimits.fileBytes)
      throw new CannotPack({ what: role, detail: `${path} is larger than ${defaultTreeLimits.fileBytes} bytes` })
    return { path, executable: (stat.mode & 0o111) !== 0, bytes: await file.readFile(), modified: stat.mtime }
  } finally {
    await file.close()
  }
}

const pathsBelow = async (role: string, folder: string, above: string): Promise<readonly string[]> => {
  const paths: string[] = []
  for (const entry of await readdir(join(folder, above), { withFileTypes: true })) {
    if (leftOut.has(entry.name)) continue
    const path = above === "" ? entry.name : `${above}/${entry.name}`
    if (entry.isDirectory()) paths.push(...(await pathsBelow(role, folder, path)))
    else if (entry.isFile()) paths.push(path)
    else
      throw new CannotPack({
        what: role,
        detail: `${path} is neither a file nor a folder`,
        hint: "Replace the link with a copy of the file.",
      })
  }
  return paths
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** One mapping of the role's metadata; empty when the file does not exist. */
const mappingOf = (role: string, files: readonly RoleFile[], ...names: readonly string[]): Readonly<Record<string, unknown>> => {
  const file = files.find(({ path }) => names.includes(path))
  if (file === undefined) return {}
  try {
    const value: unknown = parse(file.bytes.toString("utf8"), { maxAliasCount: 100 })
    return isRecord(value) ? value : {}
  } catch (cause) {
    const because = cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : String(cause)
    throw new CannotPack({ what: role, detail: `${file.path} is not valid YAML: ${because}` })
  }
}

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" ? value.replace(/\s+/gu, " ").trim() || undefined : undefined

const entitlementsOf = (role: string, value: unknown): readonly string[] | undefined => {
  if (value === undefined) return undefined
  const names = Array.isArray(value) ? value.filter((name): name is string => typeof name === "string") : []
  if (!Array.isArray(value) || names.length !== value.length)
    throw new CannotPack({ what: role, detail: "entitlements in meta/subscription.yml is not a list of names" })
  return names
}

/**
 * Reads one role: its version from `meta/version.yml`, its description from `galaxy_info` in `meta/main.yml`, its entitlements from
 * `meta/subscription.yml`. Rejects with `CannotPack`.
 */
export const readRole = async (folder: string, role: string): Promise<RoleFolder> => {
  if (!isRoleName(role)) throw new CannotPack({ what: role, detail: "a role cannot have this name" })
  const paths = (await pathsBelow(role, folder, "")).toSorted((a, b) => (a < b ? -1 : 1))
  const intake = treeIntake(defaultTreeLimits)
  const files: RoleFile[] = []
  for (const path of paths) {
    const file = await readOne(role, folder, path)
    const { executable, bytes } = file
    const problem =
      intake.admit({ kind: "file", path, size: bytes.length, executable }) ?? intake.count(path, bytes.length, bytes.length)
    if (problem !== undefined) throw new CannotPack({ what: role, detail: `${path}: ${problem.detail}` })
    files.push(file)
  }
  if (!files.some(({ path }) => path.startsWith("tasks/") || path.startsWith("meta/")))
    throw new CannotPack({
      what: role,
      detail: "it has neither tasks nor meta",
      hint: "The folder must contain one folder for each role.",
    })
  const version = textOf(mappingOf(role, files, "meta/version.yml")["version"])
  if (version === undefined)
    throw new CannotPack({ what: role, detail: "it has no version", hint: 'Write `version: "1.0.0"` into its meta/version.yml.' })
  const info = mappingOf(role, files, "meta/main.yml", "meta/main.yaml")["galaxy_info"]
  return {
    role,
    version,
    description: (isRecord(info) ? textOf(info["description"]) : undefined) ?? role,
    entitlements: entitlementsOf(role, mappingOf(role, files, "meta/subscription.yml")["entitlements"]),
    lastModified: files.map(({ modified }) => modified).reduce((a, b) => (a > b ? a : b)),
    files,
  }
}
