import type { Access, Fault, Group as UserGroup, Range, ScopedKey, Session, User } from "@rangewright/domain"
import type * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import type * as Stream from "effect/Stream"
import type { HandlerServices } from "../services.ts"
import type { RequestMeta } from "./request-meta.ts"
import type { ServerSentEvents } from "./server-sent-event.ts"
import type { SocketSession } from "./socket.ts"
import { type Base, type OwnStatuses, type Statuses, statusesOf, type Target } from "./statuses.ts"

export type { Page, RequestMeta } from "./request-meta.ts"
export type { SocketEnd, SocketSession } from "./socket.ts"
export type { Base, Statuses, Target } from "./statuses.ts"

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
export type Group =
  | "Host"
  | "Ansible"
  | "User"
  | "Range"
  | "Power"
  | "Testing"
  | "AntiSandbox"
  | "Template"
  | "Snapshot"
  | "KMS"
  | "Group"
  | "Migration"
  | "Blueprint"
  | "Quota"
  | "Sources"
  | "VM"
  | "Credentials"
/** The origin of an operation: the public file, the behavior of that file's clients, or ourselves. */
export type Origin = "file" | "page" | "ours"

export type WireSchema = Schema.Codec<unknown, unknown, never, never>
/** Parameters by name. Their encoded side is text; a parameter is required unless its schema is an optional key. */
export type ParameterSchemas = Schema.Struct.Fields

/** A file that arrived by multipart, complete and within its limit. */
export interface UploadedFile {
  readonly filename: string
  readonly contentType: string
  readonly bytes: Uint8Array
}

/**
 * A file that arrived by multipart and is stored on the service's host, complete and within its limit. Removed after the request is
 * answered.
 */
export interface StoredFile {
  readonly filename: string
  readonly contentType: string
  readonly size: number
  /** Absolute. */
  readonly path: string
}

export type BodySpec =
  /** No body is read: anything sent is ignored. */
  | { readonly type: "none" }
  | { readonly type: "json"; readonly schema: WireSchema; readonly required: boolean; readonly maxBytes?: number }
  /** JSON, or the same members as text fields of a form (non-text values as JSON) beside at most one file part. */
  | {
      readonly type: "json-or-multipart"
      readonly schema: WireSchema
      readonly required: true
      readonly file: string
      readonly maxBytes: number
      readonly stored?: true
      /** A text field of a form may be empty. Absent: an empty one counts as not sent. */
      readonly emptyTexts?: true
    }
  /** Text fields (booleans as `true`/`false`) and one file part. */
  | {
      readonly type: "multipart"
      readonly fields: ParameterSchemas
      readonly file: string
      readonly maxBytes: number
      /** The file is not held in memory: the handler gets a `StoredFile`. */
      readonly stored?: true
    }

/** Raw bytes with their content type. */
export interface BinaryFile {
  readonly contentType: string
  readonly bytes: Uint8Array
}

export type OutputSpec =
  | { readonly type: "json"; readonly schema: WireSchema; readonly status?: 200 | 201 }
  /** JSON with headers for the next page or the version: the handler returns a `MarkedJson`. */
  | { readonly type: "marked-json"; readonly schema: WireSchema }
  /** JSON that also changes what the browser stores, such as its session: the handler returns a `SessionAnswer`. */
  | { readonly type: "session"; readonly schema: WireSchema }
  /** The handler returns JSON that it rendered itself, as text or bytes; the schema describes it. For hot reads. */
  | { readonly type: "prepared-json"; readonly schema: WireSchema }
  | { readonly type: "text"; readonly contentType: string }
  /** JSON, or on request a file that is generated while it is sent: the handler returns a `JsonOrDownload`. */
  | { readonly type: "json-or-download"; readonly schema: WireSchema; readonly contentType: string }
  /** JSON, or on request a text file to save: the handler returns a `JsonOrFile`. */
  | { readonly type: "json-or-file"; readonly schema: WireSchema; readonly contentType: string }
  /** The handler returns what the schema describes; sent as a zip archive with a file of this name, or as JSON on request. */
  | { readonly type: "json-or-zip"; readonly schema: WireSchema; readonly name: string }
  /** The handler returns a `BinaryFile`; this content type describes the possible ones, such as `image/*`. */
  | { readonly type: "binary"; readonly contentType: string }
  /** The handler returns a `Download`. */
  | { readonly type: "download"; readonly contentType: string }
  /** The handler returns `ZipEntry[]`. */
  | { readonly type: "zip"; readonly filename: string }
  /** The handler returns `ServerSentEvents`. */
  | { readonly type: "events"; readonly schema: WireSchema }
  /**
   * A web socket: the handler returns a `SocketSession`. It is opened with this subprotocol, or with none when the client asks for none.
   */
  | { readonly type: "socket"; readonly protocol: string }

/** JSON as a value or already rendered, with what the response headers say. */
export type MarkedJson<A> = ({ readonly json: A } | { readonly prepared: string | Uint8Array }) & Marks

export interface Marks {
  /** Query parameters of the next page, replacing those of this one; undefined: this is the last page. */
  readonly next?: Readonly<Record<string, string>> | undefined
  /** Version of the content, which changes with it. Of `[A-Za-z0-9_-]`. */
  readonly version?: string | undefined
}

/** The new values of the browser's cookies: its session, or a sign-in that it has begun. Undefined: the cookie is removed. */
export interface KeptByBrowser {
  readonly session?: string | undefined
  readonly signIn?: string | undefined
}

/** Cookies that are not named in `cookies` stay unchanged. */
export interface SessionAnswer<A> {
  readonly json: A
  readonly cookies: KeptByBrowser
}

/** The name, without its extension, may be any text: characters that a header or a file system could misread are removed. */
export type JsonOrFile<A> =
  | { readonly json: A; readonly version?: string | undefined }
  | { readonly file: { readonly name: string; readonly ending: string; readonly text: string } }

/** A file to save that is generated while it is sent. Its name may be any text, as in `JsonOrFile`. */
export interface Download {
  readonly name: string
  readonly ending: string
  readonly bytes: Stream.Stream<Uint8Array, Fault>
}

export type JsonOrDownload<A> = { readonly json: A } | { readonly download: Download }

export interface ZipEntry {
  readonly name: string
  readonly content: string
}

/** One operation in the registry. */
export interface Operation {
  readonly id: string
  readonly route: { readonly method: Method; readonly path: string; readonly base: Base }
  readonly group: Group
  /** What it does, worded to complete "You may not …": `list all users`. Used in refusals. */
  readonly does: string
  readonly summary: string
  readonly access: Access
  readonly accessNote: string | undefined
  /** Who is admitted besides administrators, where Ludus admits administrators only. */
  readonly alsoFor: "group-manager" | undefined
  readonly tier: "community" | "enterprise"
  readonly origin: Origin
  readonly target: Target
  /** Changes something: gets an audit entry, unless it is anonymous. */
  readonly mutates: boolean
  /**
   * It changes something outside of the store, where no transaction covers both, or hands out secrets: its audit entry is written before it
   * begins, also if it changes nothing.
   */
  readonly recordedFirst: boolean
  /** Calling it does not count as use of the range. */
  readonly passive: boolean
  /** It hands out credentials, or changes access rights: scoped keys are refused. */
  readonly wholeKeyOnly: boolean
  /** Sessions are refused: a session would become a key that outlives it. */
  readonly refusesSession: boolean
  /** It takes `If-Match`. */
  readonly conditional: boolean
  /** Query parameters and members of the body that the audit entry contains, besides the path parameters. Never a secret, never a long text. */
  readonly audited: readonly string[]
  readonly input: { readonly path: ParameterSchemas; readonly query: ParameterSchemas; readonly body: BodySpec }
  readonly output: OutputSpec
  readonly statuses: Statuses
  readonly handle: (request: HandlerRequest) => Effect.Effect<unknown, Fault, HandlerServices>
}

/** Whether its calls leave audit entries. Anonymous operations record by themselves what matters. */
export const isAudited = ({ mutates, recordedFirst, access }: Operation): boolean =>
  (mutates || recordedFirst) && access !== "anonymous"

/** The untyped request of a handler. */
export interface HandlerRequest {
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: unknown
  readonly file: UploadedFile | StoredFile | undefined
  /** Owner of the credentials; undefined only where access is `anonymous`. */
  readonly caller: User | undefined
  /** The caller's session; undefined: the caller used a key or a token. */
  readonly session?: Session | undefined
  /** The scoped key of the caller; undefined: the caller used other credentials. */
  readonly key?: ScopedKey | undefined
  /** The user acted as: `?userID=` of an admin, else the caller. */
  readonly user: User | undefined
  /** The loaded and authorised range; undefined when the target is `none` and no `?rangeID=` was sent. */
  readonly range: Range | undefined
  /** The loaded group that the caller may use in this way; undefined unless the target is `group-in-path`. */
  readonly group: UserGroup | undefined
  readonly meta: RequestMeta
}

type Loaded<A extends Access, T extends Target> = {
  readonly caller: A extends "anonymous" ? User | undefined : User
  readonly user: A extends "anonymous" ? User | undefined : User
  readonly range: T extends "none" | "group-in-path" ? Range | undefined : Range
  readonly group: T extends "group-in-path" ? UserGroup : undefined
  readonly session?: Session | undefined
  readonly key?: ScopedKey | undefined
  readonly meta: RequestMeta
}
type Fields<F extends ParameterSchemas> = Schema.Struct<F>["Type"]
type AnyFileOf<B extends BodySpec> = B extends { readonly stored: true } ? StoredFile : UploadedFile
type FileOf<B extends BodySpec> = B extends { readonly type: "multipart" }
  ? AnyFileOf<B>
  : B extends { readonly type: "json-or-multipart" }
    ? AnyFileOf<B> | undefined
    : undefined
type BodyOf<B extends BodySpec> = B extends {
  readonly type: "json" | "json-or-multipart"
  readonly schema: infer S extends WireSchema
  readonly required: infer R
}
  ? R extends true
    ? S["Type"]
    : S["Type"] | undefined
  : B extends { readonly type: "multipart"; readonly fields: infer F extends ParameterSchemas }
    ? Fields<F>
    : undefined
type ResultOf<O extends OutputSpec> = O extends {
  readonly type: "json" | "json-or-zip"
  readonly schema: infer S extends WireSchema
}
  ? S["Type"]
  : O extends { readonly type: "session"; readonly schema: infer S extends WireSchema }
    ? SessionAnswer<S["Type"]>
    : O extends { readonly type: "marked-json"; readonly schema: infer S extends WireSchema }
      ? MarkedJson<S["Type"]>
      : O extends { readonly type: "json-or-download"; readonly schema: infer S extends WireSchema }
        ? JsonOrDownload<S["Type"]>
        : O extends { readonly type: "prepared-json" }
          ? string | Uint8Array
          : O extends { readonly type: "text" }
            ? string
            : O extends { readonly type: "binary" }
              ? BinaryFile
              : O extends { readonly type: "json-or-file"; readonly schema: infer S extends WireSchema }
                ? JsonOrFile<S["Type"]>
                : O extends { readonly type: "zip" }
                  ? readonly ZipEntry[]
                  : O extends { readonly type: "download" }
                    ? Download
                    : O extends { readonly type: "socket" }
                      ? SocketSession
                      : ServerSentEvents

/** The declaration of an operation, with its handler. Everything else is derived from it: route, decoding, OpenAPI, access tests. */
export interface Declaration<
  A extends Access,
  T extends Target,
  P extends ParameterSchemas,
  Q extends ParameterSchemas,
  B extends BodySpec,
  O extends OutputSpec,
> {
  /** The contract's operationId. */
  readonly id: string
  /** `GET /range/config/{name}`: relative to `base`. */
  readonly route: `${Method} /${string}`
  /** Default `/api/v2`. */
  readonly base?: Base
  readonly group: Group
  readonly does: string
  readonly summary: string
  readonly access: A
  readonly accessNote?: string
  readonly alsoFor?: "group-manager"
  readonly tier?: "enterprise"
  readonly origin?: Origin
  readonly target: T
  /** Default: every method but GET. */
  readonly mutates?: boolean
  readonly recordedFirst?: true
  readonly passive?: true
  readonly wholeKeyOnly?: true
  readonly conditional?: true
  readonly refusesSession?: true
  readonly audited?: readonly ((keyof BodyOf<B> | keyof Q) & string)[]
  readonly path?: P
  readonly query?: Q
  readonly body?: B
  readonly output: O
  readonly statuses: OwnStatuses
  readonly handle: (
    request: {
      readonly path: Fields<P>
      readonly query: Fields<Q>
      readonly body: BodyOf<B>
      readonly file: FileOf<B>
    } & Loaded<A, T>,
  ) => Effect.Effect<ResultOf<O>, Fault, HandlerServices>
}

const noParameters = {} as const
const noBody = { type: "none" } as const

export const operation = <
  const A extends Access,
  const T extends Target,
  const O extends OutputSpec,
  const P extends ParameterSchemas = typeof noParameters,
  const Q extends ParameterSchemas = typeof noParameters,
  const B extends BodySpec = typeof noBody,
>(
  declared: Declaration<A, T, P, Q, B, O>,
): Operation => {
  const [method, path] = declared.route.split(" ", 2) as [Method, string]
  const mutates = declared.mutates ?? method !== "GET"
  return {
    id: declared.id,
    route: { method, path, base: declared.base ?? "/api/v2" },
    group: declared.group,
    does: declared.does,
    summary: declared.summary,
    access: declared.access,
    accessNote: declared.accessNote,
    alsoFor: declared.alsoFor,
    tier: declared.tier ?? "community",
    origin: declared.origin ?? "file",
    target: declared.target,
    mutates,
    recordedFirst: declared.recordedFirst ?? false,
    passive: declared.passive ?? false,
    refusesSession: declared.refusesSession ?? false,
    wholeKeyOnly: declared.wholeKeyOnly ?? false,
    conditional: declared.conditional ?? false,
    audited: declared.audited ?? [],
    input: { path: declared.path ?? noParameters, query: declared.query ?? noParameters, body: declared.body ?? noBody },
    output: declared.output,
    statuses: statusesOf(declared),
    // the pipeline decodes with these schemas and loads what access and target say, so the typed view is correct
    handle: declared.handle as unknown as Operation["handle"],
  }
}
