import type { ServerResponse } from "node:http"
import { backpressuredWriter } from "./backpressured-writer.ts"

/** Bytes of whole answers that may wait for their readers, over all connections. */
const usuallyUnsent = 256 * 1024 * 1024
/** A reader must take this many bytes within its patience: all at once, as most answers are not larger. */
const pieceBytes = 256 * 1024

/** Sends large answers, each of which takes memory until its reader has taken it, which may be never. */
export interface SlowReaders {
  /** Sends the body and ends the answer, whose headers are written. */
  readonly send: (response: ServerResponse, body: string | Uint8Array) => void
}

const end = (response: ServerResponse, body: string | Uint8Array, patience: number): void => {
  response.end(body)
  const cut = setTimeout(() => response.destroy(), patience)
  response.once("close", () => clearTimeout(cut))
}

const sendPieces = async (response: ServerResponse, body: Uint8Array, patience: number): Promise<void> => {
  const write = backpressuredWriter(response, patience)
  let at = 0
  for (; body.length - at > pieceBytes && !response.destroyed; at += pieceBytes) await write(body.subarray(at, at + pieceBytes))
  if (!response.destroyed) end(response, body.subarray(at), patience)
}

/**
 * A reader that does not make room within `patience` milliseconds loses its connection. So do those that have been reading for longest
 * while all together leave more than `unsentBytes`.
 */
export const slowReaders = (patience: number, unsentBytes = usuallyUnsent): SlowReaders => {
  /** The oldest first. */
  const unsent = new Map<ServerResponse, number>()
  let total = 0
  const settle = (response: ServerResponse): void => {
    total -= unsent.get(response) ?? 0
    unsent.delete(response)
  }
  return {
    send: (response, body) => {
      // a closed response emits no further close event
      if (response.destroyed) return
      unsent.set(response, body.length)
      total += body.length
      response.once("close", () => settle(response))
      for (const [oldest] of unsent) {
        if (total <= unsentBytes) break
        settle(oldest)
        oldest.destroy()
      }
      // without a socket, the connection is still sending an earlier answer: its reader is not slow yet
      if (response.socket === null) response.end(body)
      else if (body.length <= pieceBytes) end(response, body, patience)
      else void sendPieces(response, typeof body === "string" ? Buffer.from(body) : body, patience)
    },
  }
}
