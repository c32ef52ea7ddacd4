import { type BodySpec, booleanIn, type Input, longWork, type Operation } from "@rangewright/application"
import { Failed, InvalidInput, isFault, type Fault } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as AST from "effect/SchemaAST"
import type { Context } from "koa"
import { BodyTooLarge } from "../faults.ts"
import type { InTurn } from "./body-turns.ts"
import { decodeParameters, decodeWith } from "./decode-with.ts"
import { diskSink, memorySink, type FileSink } from "./file-sink.ts"
import { foldKeys } from "./fold-keys.ts"
import { readJson } from "./json-text.ts"
import { readMultipart, requireFile } from "./multipart.ts"
import { bodyNames, checkMembers, type CheckName } from "./names.ts"
import { saysJson, saysMultipart, textReader } from "./sent-text.ts"

/** Bytes of a JSON body unless the operation sets another limit. */
const usualLimit = 1024 * 1024
/** The same for callers without credentials, who may open any number of connections and never finish a body. */
const anonymousLimit = 16 * 1024
/** Characters of a JSON text that is parsed at once; longer ones may take a tenth of a second, and take turns. */
const readAtOnce = 32 * 1024

type Body = Pick<Input, "body" | "file">
/** Reads and decodes the body of a request. */
export type ReadBody = (ctx: Context) => Effect.Effect<Body, Fault>

/** A folder for the files of this request alone, removed once the request is answered. */
export type ScratchOf = (ctx: Context) => Effect.Effect<string, unknown>

const faultFrom =
  (limit: number) =>
  (cause: unknown): Fault => {
    if (isFault(cause)) return cause
    if ((cause as NodeJS.ErrnoException).syscall !== undefined)
      return new Failed({
        what: "Cannot store the uploaded file: it cannot be written",
        hint: "Free space where the service keeps temporary files.",
      })
    const { status, type } = cause as { readonly status?: number; readonly type?: string }
    if (status === 413) return new BodyTooLarge({ what: "the request body", limit })
    if (type === "request.aborted" || type === "request.size.invalid")
      return new InvalidInput({ what: "Cannot read the request body: it ended early" })
    return new InvalidInput({ what: "Cannot read the request body: its encoding is not supported or is broken" })
  }

const sinkOf = (
  spec: { readonly stored?: true; readonly maxBytes: number },
  ctx: Context,
  scratchOf: ScratchOf,
): Effect.Effect<FileSink, Fault> =>
  spec.stored === true
    ? Effect.mapBoth(scratchOf(ctx), { onSuccess: diskSink, onFailure: faultFrom(spec.maxBytes) })
    : Effect.succeed(memorySink)

const nothing: Body = Object.freeze({ body: undefined, file: undefined })

/** A body not labelled as JSON must be an object: curl sends JSON as a form by default, and a form must not be taken for an empty body. */
const readUnlabelled = (text: string, what: string): unknown => {
  const plain = text.trim()
  if (plain === "" || plain.startsWith("{")) return readJson(plain)
  throw new InvalidInput({
    what: `Cannot read the ${what}: it is not a JSON object`,
    hint: "Send a JSON object, with Content-Type: application/json.",
  })
}

const readJsonBody = (
  spec: Pick<Extract<BodySpec, { type: "json" }>, "schema" | "required">,
  limit: number,
  what: string,
  check: (value: unknown) => void,
): ReadBody => {
  const textOf = textReader(limit)
  const decode = decodeWith(spec.schema, what)
  const fold = foldKeys(spec.schema)
  const understand = (text: string, labelled: boolean): Effect.Effect<unknown, Fault> => {
    try {
      const value = labelled ? readJson(text) : readUnlabelled(text, what)
      check(value)
      return value === undefined || value === null ? Effect.undefined : decode(fold(value))
    } catch (cause) {
      return Effect.fail(faultFrom(limit)(cause))
    }
  }
  return (ctx) =>
    Effect.gen(function* () {
      const labelled = saysJson(ctx)
      const text = (yield* Effect.tryPromise({ try: () => textOf(ctx), catch: faultFrom(limit) })) ?? ""
      const understood = () => understand(text, labelled)
      const body = yield* Effect.flatten(text.length > readAtOnce ? longWork(understood) : Effect.sync(understood))
      if (body !== undefined) return { body, file: undefined }
      if (spec.required) return yield* new InvalidInput({ what: `Cannot read the ${what}: there is none` })
      return nothing
    })
}

const readForm = (
  spec: Extract<BodySpec, { type: "multipart" }>,
  what: string,
  scratchOf: ScratchOf,
  check?: CheckName,
): ReadBody => {
  const decode = decodeParameters(spec.fields, what)
  return (ctx) =>
    Effect.gen(function* () {
      const sink = yield* sinkOf(spec, ctx, scratchOf)
      const form = yield* Effect.tryPromise({
        try: async () => {
          const { file: fileField, fields, maxBytes } = spec
          const sent = await readMultipart(ctx.req, { fileField, fieldNames: Object.keys(fields), maxBytes, sink, check })
          return { fields: sent.fields, file: requireFile(sent, fileField) }
        },
        catch: faultFrom(spec.maxBytes),
      })
      return { body: yield* decode(form.fields), file: form.file }
    })
}

/**
 * A member of a form as in JSON: a string, a boolean as in any form, or else its text is parsed as JSON. A text that is neither stays a
 * string, and is refused as such.
 */
const memberOf = (type: AST.AST | undefined, sent: string): unknown => {
  if (type === undefined || AST.isString(type)) return sent
  if (AST.isBoolean(type)) return booleanIn(sent) ?? sent
  try {
    return readJson(sent)
  } catch {
    return sent
  }
}

const readJsonOrForm = (
  spec: Extract<BodySpec, { type: "json-or-multipart" }>,
  what: string,
  scratchOf: ScratchOf,
  check: (value: unknown) => void,
): ReadBody => {
  const json = readJsonBody(spec, usualLimit, what, check)
  const decode = decodeWith(spec.schema, what)
  const ast = AST.toEncoded(spec.schema.ast)
  const members = AST.isObjects(ast) ? ast.propertySignatures : []
  const types = new Map(members.map(({ name, type }) => [String(name), type]))
  const mayBeEmpty = new Set(
    spec.emptyTexts === true ? [...types].flatMap(([name, type]) => (AST.isString(type) ? [name] : [])) : [],
  )
  return (ctx) =>
    saysMultipart(ctx)
      ? Effect.gen(function* () {
          const sink = yield* sinkOf(spec, ctx, scratchOf)
          const { fields, file } = yield* Effect.tryPromise({
            try: () =>
              readMultipart(ctx.req, {
                fileField: spec.file,
                fieldNames: [...types.keys()],
                maxBytes: spec.maxBytes,
                sink,
                check: (name) => check({ [name]: undefined }),
                mayBeEmpty,
              }),
            catch: faultFrom(spec.maxBytes),
          })
          const sent = Object.entries(fields).map(([name, text]) => [name, memberOf(types.get(name), text)] as const)
          return { body: yield* decode(Object.fromEntries(sent)), file }
        })
      : json(ctx)
}

/** For forms of which only the names of the parts matter. */
const noFile = ""

/** The names in a body sent to an operation without one: those of a JSON object or a form. Anything else has none. */
const namesIn = (text: string, labelled: boolean): readonly string[] => {
  const plain = text.trim()
  if (!labelled && !plain.startsWith("{")) return [...new URLSearchParams(plain).keys()]
  try {
    const value = readJson(plain)
    return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : []
  } catch (cause) {
    if (labelled) throw cause
    return []
  }
}

/** An operation without a body only checks what it is sent for selectors: a range named there would be ignored. */
const readNothing = (check: CheckName | undefined): ReadBody => {
  if (check === undefined) return () => Effect.succeed(nothing)
  const textOf = textReader(usualLimit)
  const read = async (ctx: Context): Promise<Body> => {
    const form = { fileField: noFile, fieldNames: [], maxBytes: usualLimit, sink: memorySink, check }
    if (saysMultipart(ctx)) await readMultipart(ctx.req, form)
    else {
      const labelled = saysJson(ctx)
      for (const name of namesIn((await textOf(ctx)) ?? "", labelled)) check(name)
    }
    return nothing
  }
  return (ctx) => Effect.tryPromise({ try: () => read(ctx), catch: faultFrom(usualLimit) })
}

/** Whether nothing in a request's body can matter to the operation. */
export const ignoresBodies = (operation: Operation): boolean =>
  operation.input.body.type === "none" && bodyNames(operation) === undefined

/** Bytes of the operation's body at most. */
const mostBytes = ({ access, input: { body } }: Operation): number => {
  if (body.type === "multipart") return body.maxBytes
  if (body.type === "json-or-multipart") return Math.max(body.maxBytes, usualLimit)
  return (body.type === "json" ? body.maxBytes : undefined) ?? (access === "anonymous" ? anonymousLimit : usualLimit)
}

const readerOf = (operation: Operation, scratchOf: ScratchOf): ReadBody => {
  const { body } = operation.input
  const what = "request body"
  switch (body.type) {
    case "none":
      return readNothing(bodyNames(operation))
    case "json":
      return readJsonBody(body, mostBytes(operation), what, checkMembers(operation))
    case "json-or-multipart":
      return readJsonOrForm(body, what, scratchOf, checkMembers(operation))
    case "multipart":
      return readForm(body, what, scratchOf, bodyNames(operation))
  }
}

/** Returns how the operation's body is read. What is not stored in a file is received in its turn. */
export const bodyReader = (operation: Operation, scratchOf: ScratchOf, inTurn: InTurn): ReadBody => {
  const read = readerOf(operation, scratchOf)
  if (ignoresBodies(operation)) return read
  const { body } = operation.input
  const most = mostBytes(operation)
  const isStored = "stored" in body && body.stored === true
  return (ctx) => (isStored && saysMultipart(ctx) ? read(ctx) : inTurn(ctx, most, read(ctx)))
}
