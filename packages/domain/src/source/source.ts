import { howTo } from "../fault/calls.ts"
import type { Brand } from "effect/Brand"
import type { RecordId, UserId } from "../access/ids.ts"
import type { SnapshotId } from "../content/snapshot-id.ts"
import { defineFault, type FaultIssue } from "../fault/fault.ts"
import type { SourceManifest } from "./content.ts"
import { sayIssues, type SourceIssue } from "./issue.ts"

/** Name of a source on the wire: a letter, then letters, digits, `_` and `-`. One for the whole installation. */
export type SourceId = string & Brand<"SourceId">

/** Where a source's content comes from: a repository, an archive that was sent, a folder on the service's host. */
export const sourceTypes = ["git", "upload", "folder"] as const
export type SourceType = (typeof sourceTypes)[number]

/** How the last sync or install ended; empty: there was none yet. */
export const sourceStatuses = ["", "ok", "partial", "error"] as const
export type SourceStatus = (typeof sourceStatuses)[number]

/** Where a source's content comes from. What does not belong to the type is empty. */
export interface SourceOrigin {
  readonly url: string
  /** Branch, tag or commit; `HEAD`: the default branch. */
  readonly ref: string
  /** Absolute, on the service's host. */
  readonly path: string
}

/** What a source says of itself. What it does not say is empty. */
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
  /** The state of its content; undefined: none was fetched from where it is now. */
  readonly snapshot: SnapshotId | undefined
  /** When content last came in. */
  readonly lastSyncedAt: Date | undefined
  readonly lastSyncStatus: SourceStatus
  /** Empty unless the status tells of failures. */
  readonly lastSyncError: string
  /** How often it is synced by itself, as a duration (`12h`); undefined: never. */
  readonly schedule: string | undefined
  /** When it is synced by itself next. */
  readonly nextSyncAt: Date | undefined
  readonly createdAt: Date
}

/** What somebody says of a source that is to be made; the rest follows. */
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

/** Text that a manifest says replaces what was known; what it does not say, or leaves empty, stays. */
export const describedBy = (manifest: SourceManifest): Partial<SourceText> => ({
  ...(manifest.name ? { name: manifest.name } : {}),
  ...(manifest.description ? { description: manifest.description } : {}),
  ...(manifest.homepage ? { homepage: manifest.homepage } : {}),
  ...(manifest.license ? { license: manifest.license } : {}),
  ...(manifest.authors.length === 0 ? {} : { authors: manifest.authors }),
})

/** Where people read about a source: the page that it names, else that of its repository; empty where there is none. */
export const homepageOf = ({ homepage, type, url }: Pick<Source, "homepage" | "type" | "url">): string =>
  homepage === "" && type === "git" && /^https?:\/\//u.test(url) ? url : homepage

/** True where content that was fetched for the one is content of the other. */
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

/** Its origin was changed while content was fetched from the old one. */
export class SourceMoved extends defineFault("SourceMoved", "conflict", (f: { readonly source: string }) => ({
  message: `Cannot take the content that was fetched for source ${f.source}: its origin was changed meanwhile`,
  hint: "Sync it again.",
})) {}

/** What was fetched cannot be the content of a source; `issues` holds every finding with its file. */
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

/** A run that fetched a source's content came to nothing, for a reason that lies in the content or in where it comes from. */
export class SourceUnfetched extends defineFault(
  "SourceUnfetched",
  "invalid",
  (f: { readonly what: string; readonly hint?: string; readonly issues: readonly FaultIssue[] }) => ({
    message: f.what,
    issues: f.issues,
    ...(f.hint === undefined ? {} : { hint: f.hint }),
  }),
) {}
