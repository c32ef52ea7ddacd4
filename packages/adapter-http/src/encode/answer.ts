import type { OutputSpec, ZipEntry } from "@rangewright/application"
import * as Schema from "effect/Schema"
import { strToU8, zipSync } from "fflate"
import type { Context } from "koa"
import { reply } from "../reply.ts"

/** Writes what a handler returned. Throws when it is not what the operation declares: a defect. */
export type Answer = (ctx: Context, result: unknown) => void

const json = "application/json"

const zipOf = (entries: readonly ZipEntry[]): Buffer =>
  Buffer.from(zipSync(Object.fromEntries(entries.map(({ name, content }) => [name, strToU8(content)]))))

/** Texts from this length on are worth remembering as bytes. */
const worthKeeping = 16 * 1024

/**
 * Text as UTF-8. The last long text is kept beside its bytes: a handler that returns the very same text again, because nothing has
 * changed, costs no new encoding. Texts are compared, so that an answer cannot be stale.
 */
const encoder = (): ((text: string) => string | Buffer) => {
  let last: { readonly text: string; readonly bytes: Buffer } | undefined
  return (text) => {
    if (text.length < worthKeeping) return text
    if (last?.text !== text) last = { text, bytes: Buffer.from(text, "utf8") }
    return last.bytes
  }
}

/** How an operation's result becomes bytes. Event streams are not written at once: see `event-stream.ts`. */
export const answerWith = (output: Exclude<OutputSpec, { type: "events" }>): Answer => {
  switch (output.type) {
    case "json": {
      const encode = Schema.encodeUnknownSync(output.schema)
      const status = output.status ?? 200
      return (ctx, result) => reply(ctx, status, json, `${JSON.stringify(encode(result))}\n`)
    }
    case "prepared-json": {
      const encode = encoder()
      return (ctx, result) => reply(ctx, 200, json, encode(result as string))
    }
    case "text":
      return (ctx, result) => reply(ctx, 200, output.contentType, result as string)
    case "zip": {
      const disposition = ["Content-Disposition", `attachment; filename="${output.filename}"`]
      return (ctx, result) => reply(ctx, 200, "application/zip", zipOf(result as readonly ZipEntry[]), disposition)
    }
  }
}
