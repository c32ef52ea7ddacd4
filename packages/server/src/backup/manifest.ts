import { Refusal } from "@rangewright/adapter-git"
import * as Schema from "effect/Schema"
import { databaseName, keptFiles, keptFolders } from "./parts.ts"

/** Bits of a file's mode that are kept; none that changes the user. */
export const permissions = 0o777

/** First in a backup: what it is, and everything that is in it. */
export const manifestName = "rangewright-backup.json"
/** Second: shows that who had the key wrote the manifest, and so all of the rest. */
export const markName = "rangewright-backup.mark"

const FileEntry = Schema.Struct({
  path: Schema.String,
  size: Schema.Int,
  sha256: Schema.String,
  /** Who may do what with it, the nine bits. */
  mode: Schema.Int,
})
const LinkEntry = Schema.Struct({ path: Schema.String, target: Schema.String })

const Manifest = Schema.Struct({
  format: Schema.Literal("rangewright-backup"),
  /** Of this form. A service reads those it knows. */
  version: Schema.Literal(1),
  madeAt: Schema.String,
  /** Version of the service. */
  madeBy: Schema.String,
  /** The key that sealed what is sealed in here, and that marked this. */
  keyId: Schema.String,
  /** That key, sealed with a passphrase; null: it is not in here. */
  sealedKey: Schema.NullOr(Schema.String),
  /** Certificate and private key that the service made for itself, sealed with its key. */
  sealedCertificate: Schema.NullOr(Schema.String),
  /** Where the data came from. */
  engine: Schema.Literals(["sqlite", "postgresql"]),
  /** For people. */
  notIncluded: Schema.Array(Schema.String),
  files: Schema.Array(FileEntry),
  links: Schema.Array(LinkEntry),
})

export type BackupFile = typeof FileEntry.Type
export type BackupLink = typeof LinkEntry.Type
/** What a backup says of itself. */
export type BackupManifest = typeof Manifest.Type

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Manifest))
const VersionOnly = Schema.fromJsonString(Schema.Struct({ format: Schema.Literal("rangewright-backup"), version: Schema.Int }))

const refuse = (detail: string, item?: string): Refusal =>
  new Refusal({ type: "archive", reason: "broken", rule: "backup", detail, ...(item === undefined ? {} : { item }) })

/** Whether a path is one that backups have: inside one of the kept places, and the same however it is read. */
const isBackupPath = (path: string): boolean => {
  const [single, folders]: readonly (readonly string[])[] = [[databaseName, ...keptFiles], keptFolders]
  const parts = path.split("/")
  if (path.includes("\0") || parts.some((part) => part === "" || part === "." || part === "..")) return false
  return single?.includes(path) === true || folders?.some((folder) => path.startsWith(`${folder}/`)) === true
}

/** Refuses paths that lead elsewhere, come twice, or lead through a link or a file. */
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

/** Reads the text of a manifest; refuses what cannot be the manifest of a backup. */
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

/** What is in a backup, for people. */
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
