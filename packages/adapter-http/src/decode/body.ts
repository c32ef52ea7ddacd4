import type { BodySpec, Input, Operation } from "@rangewright/application"
import { Failed, InvalidInput, isFault, type Fault } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as AST from "effect/SchemaAST"
import type { Context } from "koa"
import bodyParser from "koa-bodyparser"
import { BodyTooLarge } from "../faults.ts"
import { decodeParameters, decodeWith } from "./decode-with.ts"
import { diskSink, memorySink, type FileSink } from "./file-sink.ts"
import { foldKeys } from "./fold-keys.ts"
import { readJson } from "./json-text.ts"
import { readMultipart, requireFile } from "./multipart.ts"
import { bodyNames, checkMembers, type CheckName } from "./names.ts"

/** Bytes of a JSON body where the operation says nothing else. */
const usualLimit = 1024 * 1024

type Body = Pick<Input, "body" | "file">
/** Reads and decodes the body of a request. */
export type ReadBody = (ctx: Context) => Effect.Effect<Body, Fault>

/** A folder for the files of this request alone, which goes when the request is answered. */
export type ScratchOf = (ctx: Context) => Promise<string>

const sinkOf = async (spec: { readonly stored?: true }, ctx: Context, scratchOf: ScratchOf): Promise<FileSink> =>
  spec.stored === true ? diskSink(await scratchOf(ctx)) : memorySink

const faultFrom =
  (limit: number) =>
  (cause: unknown): Fault => {
    if (isFault(cause)) return cause
    if ((cause as NodeJS.ErrnoException).syscall !== undefined)
      return new Failed({
        what: "Cannot take the uploaded file: there is no place to write it",
        hint: "Make room where the service keeps temporary files.",
      })
    const { status, type } = cause as { readonly status?: number; readonly type?: string }
    if (status === 413) return new BodyTooLarge({ what: "the request body", limit })
    if (type === "request.aborted" || type === "request.size.invalid")
      return new InvalidInput({ what: "Cannot read the request body: it ended early" })
    return new InvalidInput({ what: "Cannot read the request body: its encoding is not supported or broken" })
  }

const nothing: Body = Object.freeze({ body: undefined, file: undefined })

const readJsonBody = (spec: Extract<BodySpec, { type: "json" }>, what: string, check: (value: unknown) => void): ReadBody => {
  const limit = spec.maxBytes ?? usualLimit
  // as text: JSON is read by our own rules
  const parser = bodyParser({
    enableTypes: ["text"],
    extendTypes: { text: ["application/json", "application/*+json"] },
    textLimit: String(limit),
  })
  const decode = decodeWith(spec.schema, what)
  const fold = foldKeys(spec.schema)
  const read = async (ctx: Context): Promise<unknown> => {
    if (ctx.request.length === 0 || (ctx.request.length === undefined && ctx.get("transfer-encoding") === "")) return undefined
    if (!ctx.request.is("application/json", "application/*+json"))
      throw new InvalidInput({
        what: `Cannot read the ${what}: its content type is not JSON`,
        hint: "Send Content-Type: application/json.",
      })
    await parser(ctx, () => Promise.resolve())
    const { rawBody } = ctx.request
    const value = readJson(typeof rawBody === "string" ? rawBody : "")
    check(value)
    return value
  }
  return (ctx) =>
    Effect.gen(function* () {
      const value = yield* Effect.tryPromise({ try: () => read(ctx), catch: faultFrom(limit) })
      if (value !== undefined && value !== null) return { body: yield* decode(fold(value)), file: undefined }
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
      const form = yield* Effect.tryPromise({
        try: async () => {
          const sink = await sinkOf(spec, ctx, scratchOf)
          const sent = await readMultipart(ctx.req, spec.file, Object.keys(spec.fields), spec.maxBytes, sink, check)
          return { fields: sent.fields, file: requireFile(sent, spec.file) }
        },
        catch: faultFrom(spec.maxBytes),
      })
      return { body: yield* decode(form.fields), file: form.file }
    })
}

/** The members of a form as JSON would have them: what is no text to the schema is JSON in the form; what is none stays a text, and is refused as such. */
const memberOf = (isText: boolean, sent: string): unknown => {
  if (isText) return sent
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
  const json = readJsonBody({ type: "json", schema: spec.schema, required: spec.required }, what, check)
  const decode = decodeWith(spec.schema, what)
  const ast = AST.toEncoded(spec.schema.ast)
  const members = AST.isObjects(ast) ? ast.propertySignatures : []
  const texts = new Map(members.map(({ name, type }) => [String(name), AST.isString(type)]))
  return (ctx) =>
    ctx.request.is("multipart/form-data") === "multipart/form-data"
      ? Effect.gen(function* () {
          const { fields, file } = yield* Effect.tryPromise({
            try: async () => {
              const sink = await sinkOf(spec, ctx, scratchOf)
              return readMultipart(ctx.req, spec.file, [...texts.keys()], spec.maxBytes, sink, (name) =>
                check({ [name]: undefined }),
              )
            },
            catch: faultFrom(spec.maxBytes),
          })
          const sent = Object.entries(fields).map(([name, text]) => [name, memberOf(texts.get(name) ?? true, text)] as const)
          return { body: yield* decode(Object.fromEntries(sent)), file }
        })
      : json(ctx)
}

/** An operation without a body looks at JSON that is sent for selectors alone. */
const readNothing = (operation: Operation, what: string): ReadBody => {
  if (bodyNames(operation) === undefined) return () => Effect.succeed(nothing)
  const check = checkMembers(operation)
  const read = readJsonBody({ type: "json", schema: Schema.Unknown, required: false }, what, check)
  return (ctx) =>
    ctx.request.is("application/json", "application/*+json") ? Effect.as(read(ctx), nothing) : Effect.succeed(nothing)
}

/** How the operation's body is read. */
export const bodyReader = (operation: Operation, scratchOf: ScratchOf): ReadBody => {
  const { body } = operation.input
  const what = `request body of ${operation.id}`
  switch (body.type) {
    case "none":
      return readNothing(operation, what)
    case "json":
      return readJsonBody(body, what, checkMembers(operation))
    case "json-or-multipart":
      return readJsonOrForm(body, what, scratchOf, checkMembers(operation))
    case "multipart":
      return readForm(body, what, scratchOf, bodyNames(operation))
  }
}
