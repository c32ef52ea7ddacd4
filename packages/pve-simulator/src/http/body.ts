import type { IncomingMessage } from "node:http"
import { MAX_BODY } from "./form.ts"
import { ConnectionReset } from "./handle.ts"

/** Maximum bytes of all bodies that are being read. */
const maxBodies = 64 * 1024 ** 2
/** A slowly sent body may take at most this many times `patience`. */
const wholeBody = 6

/** Reads bodies up to just over the API's limit, and drops the rest. There is also a limit for all bodies being read at once. */
export const bodyReader = (patience: number): ((request: IncomingMessage) => Promise<Buffer>) => {
  let held = 0
  return async (request: IncomingMessage): Promise<Buffer> => {
    const chunks: Buffer[] = []
    let size = 0
    const tooSlow = setTimeout(() => request.socket.destroy(), patience * wholeBody)
    try {
      for await (const chunk of request as AsyncIterable<Buffer>) {
        if (size <= MAX_BODY) {
          held += chunk.length
          chunks.push(chunk)
          if (held > maxBodies) throw new ConnectionReset()
        }
        size += chunk.length
      }
      return Buffer.concat(chunks)
    } finally {
      clearTimeout(tooSlow)
      held -= chunks.reduce((sum, chunk) => sum + chunk.length, 0)
    }
  }
}
