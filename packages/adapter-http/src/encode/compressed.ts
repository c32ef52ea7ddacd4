import type { Operation } from "@rangewright/application"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { reply } from "../reply.ts"
import type { HeaderList } from "../request-state.ts"

/** A whole answer. */
export type Reply = (...answer: Parameters<typeof reply>) => void | Promise<void>

/** Bytes from which it pays. */
const worthIt = 1024
const vary: HeaderList = ["Vary", "Accept-Encoding"]
/** Nearly as short as the best, for a twentieth of its time. */
const level = 3
const compress = (body: string | Uint8Array): Promise<Buffer> => promisify(gzip)(body, { level })

/** Of bodies that are kept to be sent again. */
const kept = new WeakMap<Uint8Array, Promise<Buffer>>()
const compressed = (body: string | Uint8Array): Promise<Buffer> => {
  if (typeof body === "string") return compress(body)
  const known = kept.get(body)
  if (known !== undefined) return known
  const made = compress(body)
  kept.set(body, made)
  return made
}

const replyCompressed: Reply = (ctx, status, contentType, body, more = []) => {
  if (body.length < worthIt) return reply(ctx, status, contentType, body, more)
  const headers = [...more, ...vary]
  // scripts send no such header: for them nothing is negotiated
  if (ctx.headers["accept-encoding"] === undefined || ctx.acceptsEncodings("gzip") !== "gzip")
    return reply(ctx, status, contentType, body, headers)
  return compressed(body).then((short) => reply(ctx, status, contentType, short, [...headers, "Content-Encoding", "gzip"]))
}

/**
 * How the answers of an operation are written: reads compressed, for clients that take it. Never what holds secrets, for the length of a
 * compressed answer tells of what is in it.
 */
export const replyOf = ({ route, wholeKeyOnly }: Operation): Reply =>
  route.method === "GET" && !wholeKeyOnly ? replyCompressed : reply
