import type { BinaryFile, JsonOrFile, MarkedJson, OutputSpec, SessionAnswer, ZipEntry } from "@rangewright/application"
import * as Schema from "effect/Schema"
import { strToU8, zipSync } from "fflate"
import type { Context } from "koa"
import { reply } from "../reply.ts"
import { cookieHeaders } from "../session.ts"
import { attachment } from "./attachment.ts"
import type { Reply } from "./compressed.ts"
import { marks } from "./marks.ts"

/** Writes a handler's result. Throws when it does not match the operation's declaration, which is a defect. */
export type Answer = (ctx: Context, result: unknown) => void | Promise<void>

const json = "application/json"
const zip = "application/zip"

/** File mode of entries in an archive: a regular file, 0600, in Unix attributes. */
const ownOnly = { os: 3, attrs: 0o100600 << 16 }

const zipOf = (entries: readonly ZipEntry[]): Buffer =>
  Buffer.from(zipSync(Object.fromEntries(entries.map(({ name, content }) => [name, [strToU8(content), ownOnly]]))))

const replyZip = (ctx: Context, filename: string, entries: readonly ZipEntry[]): void =>
  reply(ctx, 200, zip, zipOf(entries), ["Content-Disposition", `attachment; filename="${filename}"`])

/** Returns how an operation's result is encoded. Streams are written elsewhere: see `event-stream.ts` and `download.ts`. */
export const answerWith = (output: Exclude<OutputSpec, { type: "events" | "download" | "socket" }>, send: Reply): Answer => {
  switch (output.type) {
    case "json": {
      const encode = Schema.encodeUnknownSync(output.schema)
      const status = output.status ?? 200
      return (ctx, result) => send(ctx, status, json, `${JSON.stringify(encode(result))}\n`)
    }
    case "json-or-download": {
      // a download is sent before this is reached
      const encode = Schema.encodeUnknownSync(output.schema)
      return (ctx, result) => send(ctx, 200, json, `${JSON.stringify(encode((result as { readonly json: unknown }).json))}\n`)
    }
    case "marked-json": {
      const encode = Schema.encodeUnknownSync(output.schema)
      return (ctx, result) => {
        const marked = result as MarkedJson<unknown>
        // a version identifies the exact bytes, so they are not compressed
        const write = marked.version === undefined ? send : reply
        const body = "prepared" in marked ? marked.prepared : `${JSON.stringify(encode(marked.json))}\n`
        return write(ctx, 200, json, body, marks(ctx, marked))
      }
    }
    case "session": {
      const encode = Schema.encodeUnknownSync(output.schema)
      return (ctx, result) => {
        const { json: content, cookies } = result as SessionAnswer<unknown>
        return reply(ctx, 200, json, `${JSON.stringify(encode(content))}\n`, cookieHeaders(cookies))
      }
    }
    case "prepared-json":
      return (ctx, result) => send(ctx, 200, json, result as string | Uint8Array)
    case "text":
      return (ctx, result) => send(ctx, 200, output.contentType, result as string)
    case "binary":
      return (ctx, result) => {
        const { contentType, bytes } = result as BinaryFile
        return reply(ctx, 200, contentType, bytes)
      }
    case "json-or-file": {
      const encode = Schema.encodeUnknownSync(output.schema)
      return (ctx, result) => {
        const answer = result as JsonOrFile<unknown>
        if ("json" in answer) return reply(ctx, 200, json, `${JSON.stringify(encode(answer.json))}\n`, marks(ctx, answer))
        const { name, ending, text } = answer.file
        return reply(ctx, 200, output.contentType, text, attachment(name, ending))
      }
    }
    case "json-or-zip": {
      const encode = Schema.encodeUnknownSync(output.schema)
      return (ctx, result) => {
        const text = JSON.stringify(encode(result), undefined, 2)
        return ctx.accepts(zip, json) === json
          ? reply(ctx, 200, json, `${text}\n`)
          : replyZip(ctx, `${output.name}.zip`, [{ name: `${output.name}.json`, content: `${text}\n` }])
      }
    }
    case "zip":
      return (ctx, result) => replyZip(ctx, output.filename, result as readonly ZipEntry[])
  }
}
