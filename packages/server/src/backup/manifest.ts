import { Refusal } from "@rangewright/adapter-git"
import * as Schema from "effect/Schema"
import { databaseName, keptFiles, keptFolders } from "./parts.ts"

/** File mode bits that are kept, without setuid and the like. */
export const permissions = 0o777

/** First entry of a backup: identifies it and lists everything in it. */
export const manifestName = "rangewright-backup.json"
/** Second entry: proves that the manifest, and so everything else, was written by someone who had the key. */
export const markName = "rangewright-backup.mark"

const FileEntry = Schema.Struct({
  path: Schema.String,
  size: Schema.Int,
  sha256: Schema.String,
  /** The nine permission bits. */
  mode: Schema.Int,
})
const LinkEntry = Schema.Struct({ path: Schema.String, target: Schema.String })

const Manifest = Schema.Struct({
  format: Schema.Literal("rangewright-backup"),
  /** Version of this format. A service reads those it knows. */
  version: Schema.Literal(1),
  madeAt: Schema.String,
  /** Version of the service. */
  madeBy: Schema.String,
  /** The key that sealed the secrets in here, and that made the mark. */
  keyId: Schema.String,
  /** That key, sealed with a passphrase; null when it is not included. */
  sealedKey: Schema.NullOr(Schema.String),
  /** The certificate and private key that the service generated, sealed with its key. */
  sealedCertificate: Schema.NullOr(Schema.String),
  /** Database engine that the data came from. */
  engine: Schema.Literals(["sqlite", "postgresql"]),
  /** For people. */
  notIncluded: Schema.Array(Schema.String),
  files: Schema.Array(FileEntry),
  links: Schema.Array(LinkEntry),
})

export type BackupFile = typeof FileEntry.Type
export type BackupLink = typeof LinkEntry.Type
export type BackupManifest = typeof Manifest.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Manifest))
const VersionOnly = Schema.fromJsonString(Schema.Struct({ format: Schema.Literal("rangewright-backup"), version: Schema.Int }))

const refuse = (detail: string, item?: string): Refusal =>
  new Refusal({ type: "archive", reason: "broken", rule: "backup", detail, ...(item === undefined ? {} : { item }) })

/** Whether a path is valid in a backup: inside one of the kept places, and normalised. */
const isBackupPath = (path: string): boolean => {
  const [single, folders]: readonly (readonly string[])[] = [[databaseName, ...keptFiles], keptFolders]
  const parts = path.split("/")
  if (path.includes("\0") || parts.some((part) => part === "" || part === "." || part === "..")) return false
  return single?.includes(path) === true || folders?.some((folder) => path.startsWith(`${folder}/`)) === true
}

/** Refuses paths that lead elsewhere, occur twice, or pass through a link or a file. */
const checkPaths = ({ files, links }: BackupManifest): void => {
  const leaves = new Set<string>()
  for (const { path } of [...files, ...links]) {
    if (!isBackupPath(path)) throw refuse("it has an unknown entry", path)
    if (leaves.has(path)) throw refuse("it has an entry twice", path)
    leaves.add(path)
  }
  for (const path of leaves)
    for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1))
      if (leaves.has(path.slice(0, at))) throw refuse("one of its entries is inside another that is not a folder", path)
}

/** Parses the text of a manifest; refuses anything that cannot be one. */
export const readManifest = (text: string): BackupManifest => {
  try {
    const { version } = Schema.decodeUnknownSync(VersionOnly)(text)
    if (version !== 1) throw refuse(`its format is ${version}, which only a newer version of the service knows`)
  } catch (cause) {
    throw cause instanceof Refusal ? cause : refuse("it does not start like a backup")
  }
  let manifest: BackupManifest
  try {
    manifest = decode(text)
  } catch {
    throw refuse("its manifest cannot be read")
  }
  checkPaths(manifest)
  if (!manifest.files.some(({ path }) => path === databaseName)) throw refuse("it has no database")
  if (manifest.files.some(({ size, mode }) => size < 0 || (mode & permissions) !== mode))
    throw refuse("its manifest cannot be read")
  return manifest
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`

/** Summary of a backup's contents, for people. */
export const contentsOf = ({ files }: BackupManifest): string => {
  const below = (folder: string) => files.map(({ path }) => path).filter((path) => path.startsWith(`${folder}/`))
  const snapshots = new Set(below("content/snapshots").map((path) => path.split("/")[2]))
  const facts = below("playbook-runs/role-facts").length
  return [
    "the database",
    `${count(snapshots.size, "snapshot")} of content`,
    `${count(below("library").length, "file")} of installed roles, collections and templates`,
    ...(facts === 0 ? [] : [`what ${count(facts, "role")} set`]),
  ].join(", ")
}
