import type { BinaryFile, JsonOrFile, OutputSpec, ZipEntry } from "@rangewright/application"
import * as Schema from "effect/Schema"
import { strToU8, zipSync } from "fflate"
import type { Context } from "koa"
import { reply } from "../reply.ts"
import { attachment } from "./attachment.ts"

/** Writes what a handler returned. Throws when it is not what the operation declares: a defect. */
export type Answer = (ctx: Context, result: unknown) => void

const json = "application/json"

const zipOf = (entries: readonly ZipEntry[]): Buffer =>
  Buffer.from(zipSync(Object.fromEntries(entries.map(({ name, content }) => [name, strToU8(content)]))))

/** How an operation's result becomes bytes. Streams are not written at once: see `event-stream.ts` and `download.ts`. */
export const answerWith = (output: Exclude<OutputSpec, { type: "events" | "download" }>): Answer => {
  switch (output.type) {
    case "json": {
      const encode = Schema.encodeUnknownSync(output.schema)
      const status = output.status ?? 200
      return (ctx, result) => reply(ctx, status, json, `${JSON.stringify(encode(result))}\n`)
    }
    case "prepared-json":
      return (ctx, result) => reply(ctx, 200, json, result as string | Uint8Array)
    case "text":
      return (ctx, result) => reply(ctx, 200, output.contentType, result as string)
    case "binary":
      return (ctx, result) => {
        const { contentType, bytes } = result as BinaryFile
        return reply(ctx, 200, contentType, bytes)
      }
    case "json-or-file": {
      const encode = Schema.encodeUnknownSync(output.schema)
      return (ctx, result) => {
        const answer = result as JsonOrFile<unknown>
        if ("json" in answer) return reply(ctx, 200, json, `${JSON.stringify(encode(answer.json))}\n`)
        const { name, ending, text } = answer.file
        return reply(ctx, 200, output.contentType, text, attachment(name, ending))
      }
    }
    case "zip": {
      const disposition = ["Content-Disposition", `attachment; filename="${output.filename}"`]
      return (ctx, result) => reply(ctx, 200, "application/zip", zipOf(result as readonly ZipEntry[]), disposition)
    }
  }
}
