import { howTo } from "../fault/calls.ts"
import type { Brand } from "effect/Brand"
import type { RecordId, UserId } from "../access/ids.ts"
import type { SnapshotId } from "../content/snapshot-id.ts"
import { defineFault, type FaultIssue } from "../fault/fault.ts"
import type { SourceManifest } from "./content.ts"
import { sayIssues, type SourceIssue } from "./issue.ts"

/** ID of a source: a letter, then letters, digits, `_` and `-`. Unique in the installation. */
export type SourceId = string & Brand<"SourceId">

/** Where a source's content comes from: a repository, an uploaded archive, or a folder on the service's host. */
export const sourceTypes = ["git", "upload", "folder"] as const
export type SourceType = (typeof sourceTypes)[number]

/** How the last sync or install ended; empty before the first one. */
export const sourceStatuses = ["", "ok", "partial", "error"] as const
export type SourceStatus = (typeof sourceStatuses)[number]

/** Where a source's content comes from. Fields that do not apply to the type are empty. */
export interface SourceOrigin {
  readonly url: string
  /** Branch, tag or commit; `HEAD`: the default branch. */
  readonly ref: string
  /** Absolute, on the service's host. */
  readonly path: string
}

/** A source's description of itself. Missing fields are empty. */
export interface SourceText {
  readonly name: string
  readonly description: string
  readonly homepage: string
  readonly license: string
  readonly authors: readonly string[]
}

/** An external collection of blueprints, templates, roles and collections. */
export interface Source extends SourceOrigin, SourceText {
  readonly recordId: RecordId
  readonly id: SourceId
  readonly owner: UserId
  readonly type: SourceType
  /** Its content; undefined if none was fetched from the current origin. */
  readonly snapshot: SnapshotId | undefined
  /** When content was last fetched. */
  readonly lastSyncedAt: Date | undefined
  readonly lastSyncStatus: SourceStatus
  /** Empty unless the status is `partial` or `error`. */
  readonly lastSyncError: string
  /** Interval of automatic syncs, as a duration (`12h`); undefined: never. */
  readonly schedule: string | undefined
  /** Time of the next automatic sync. */
  readonly nextSyncAt: Date | undefined
  readonly createdAt: Date
}

/** The given properties of a new source; the others have initial values. */
export type SourceDraft = SourceOrigin &
  Pick<Source, "recordId" | "id" | "owner" | "type" | "name" | "schedule" | "nextSyncAt" | "createdAt">

export const newlyMadeSource = (draft: SourceDraft): Source => ({
  ...draft,
  description: "",
  homepage: "",
  license: "",
  authors: [],
  snapshot: undefined,
  lastSyncedAt: undefined,
  lastSyncStatus: "",
  lastSyncError: "",
})

/** Text in a manifest replaces the stored one; missing or empty fields keep it. */
export const describedBy = (manifest: SourceManifest): Partial<SourceText> => ({
  ...(manifest.name ? { name: manifest.name } : {}),
  ...(manifest.description ? { description: manifest.description } : {}),
  ...(manifest.homepage ? { homepage: manifest.homepage } : {}),
  ...(manifest.license ? { license: manifest.license } : {}),
  ...(manifest.authors.length === 0 ? {} : { authors: manifest.authors }),
})

/** The web page of a source: its homepage, else its repository's; empty if there is none. */
export const homepageOf = ({ homepage, type, url }: Pick<Source, "homepage" | "type" | "url">): string =>
  homepage === "" && type === "git" && /^https?:\/\//u.test(url) ? url : homepage

/** Whether content fetched for one origin is content of the other. */
export const sameOrigin = (a: SourceOrigin, b: SourceOrigin): boolean => a.url === b.url && a.ref === b.ref && a.path === b.path

export class SourceNotFound extends defineFault("SourceNotFound", "not-found", (f: { readonly source: string }) => ({
  message: `Source ${f.source} not found`,
  hint: `List your sources: ${howTo("GET /sources")}.`,
})) {}

export class SourceExists extends defineFault(
  "SourceExists",
  "conflict",
  (f: { readonly source: string; readonly derived?: boolean }) =>
    f.derived === true
      ? {
          message: `Source ID ${f.source}, derived from the source's address, is already in use`,
          hint: "Choose an ID of your own with `id`.",
        }
      : { message: `Source ID ${f.source} is already in use`, hint: "Choose another ID." },
) {}

/** The origin changed while content was fetched from the old one. */
export class SourceMoved extends defineFault("SourceMoved", "conflict", (f: { readonly source: string }) => ({
  message: `Cannot store the content that was fetched for source ${f.source}: its origin was changed in the meantime`,
  hint: "Sync it again.",
})) {}

/** The fetched content is not a valid source; `issues` has every finding with its file. */
export class SourceBroken extends defineFault("SourceBroken", "invalid", (f: { readonly issues: readonly SourceIssue[] }) => ({
  message: `Cannot read the source: ${sayIssues(f.issues)}`,
  issues: f.issues.map(({ file, path, message, line, column, allowed }) => ({
    path: path === "(root)" ? file : `${file}: ${path}`,
    message,
    line,
    column,
    ...(allowed === undefined ? {} : { allowed }),
  })),
})) {}

/** Fetching a source failed because of its content or its origin. */
export class SourceUnfetched extends defineFault(
  "SourceUnfetched",
  "invalid",
  (f: { readonly what: string; readonly hint?: string; readonly issues: readonly FaultIssue[] }) => ({
    message: f.what,
    issues: f.issues,
    ...(f.hint === undefined ? {} : { hint: f.hint }),
  }),
) {}
