import { homepageOf, type Source } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { recordTime } from "./common.ts"

/** Most bytes of an uploaded archive. */
export const mostArchiveBytes = 50 * 1024 * 1024

/** Credentials of a private repository: a token, or a key and the server's host key. They are never returned. */
export const accessFields = {
  access: Schema.optionalKey(Schema.Literals(["none", "token", "ssh-key"])),
  username: Schema.optionalKey(Schema.String),
  token: Schema.optionalKey(Schema.String),
  sshKey: Schema.optionalKey(Schema.String),
  hostKey: Schema.optionalKey(Schema.String),
} as const

/** Members of a source that can be set at creation and later. */
export const sourceFields = {
  url: Schema.optionalKey(Schema.String),
  ref: Schema.optionalKey(Schema.String),
  /** Only for folders. */
  path: Schema.optionalKey(Schema.String),
  /** A duration (`12h`) or `off`. */
  schedule: Schema.optionalKey(Schema.String),
  global: Schema.optionalKey(Schema.Boolean),
  force: Schema.optionalKey(Schema.Boolean),
  ...accessFields,
} as const

/** A source; empty members are left out. */
export const SourceResponse = Schema.Struct({
  id: Schema.String,
  sourceID: Schema.String,
  name: Schema.String,
  description: Schema.optionalKey(Schema.String),
  authors: Schema.optionalKey(Schema.Array(Schema.String)),
  homepage: Schema.optionalKey(Schema.String),
  license: Schema.optionalKey(Schema.String),
  type: Schema.Literals(["git", "upload", "folder"]),
  url: Schema.optionalKey(Schema.String),
  ref: Schema.optionalKey(Schema.String),
  /** For a folder. */
  path: Schema.optionalKey(Schema.String),
  ownerUserID: Schema.String,
  lastSyncedAt: Schema.optionalKey(Schema.String),
  lastSyncStatus: Schema.optionalKey(Schema.Literals(["ok", "partial", "error"])),
  lastSyncError: Schema.optionalKey(Schema.String),
  /** Interval of automatic syncs; absent: never. */
  schedule: Schema.optionalKey(Schema.String),
  nextSyncAt: Schema.optionalKey(Schema.String),
  /** The current commit, or the digest of the files. */
  snapshot: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "SourceResponse" })

/** Members that are not empty. */
const present = <A extends Readonly<Record<string, string | readonly string[] | undefined>>>(members: A) =>
  // exactly the members with a value are left
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined && value.length > 0)) as {
    readonly [K in keyof A]?: Exclude<A[K], undefined | "">
  }

export const sourceResponse = (source: Source): typeof SourceResponse.Type => ({
  id: source.recordId,
  sourceID: source.id,
  name: source.name,
  type: source.type,
  ownerUserID: source.owner,
  ...present({
    description: source.description,
    authors: source.authors,
    homepage: homepageOf(source),
    license: source.license,
    url: source.url,
    ref: source.ref,
    path: source.path,
    lastSyncedAt: recordTime(source.lastSyncedAt),
    lastSyncStatus: source.lastSyncStatus,
    lastSyncError: source.lastSyncError,
    schedule: source.schedule,
    nextSyncAt: recordTime(source.nextSyncAt),
    snapshot: source.snapshot,
  }),
})
