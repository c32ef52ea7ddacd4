import type { ServerResponse } from "node:http"

/**
 * Writes, and resolves once the reader has made room. A reader that does not within `patience` milliseconds loses its own connection only.
 */
export const backpressuredWriter =
  (response: ServerResponse, patience: number) =>
  (part: string | Uint8Array): Promise<void> => {
    if (response.destroyed || response.writableEnded) return Promise.resolve()
    if (response.write(part)) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        response.off("drain", done).off("close", done)
        resolve()
      }
      const timer = setTimeout(() => response.destroy(), patience)
      response.on("drain", done).on("close", done)
    })
  }
