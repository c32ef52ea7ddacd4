import * as Effect from "effect/Effect"

/** A bidirectional byte stream with backpressure: only a small amount of unread data is buffered. */
export interface ByteChannel {
  /** The next chunk, never empty; undefined when the other side is gone. */
  readonly receive: Effect.Effect<Uint8Array | undefined>
  /** Returns when there is room for more. Sends nothing if the other side is gone; `receive` reports that. */
  readonly send: (bytes: Uint8Array) => Effect.Effect<void>
}

/** The transport under a byte channel. */
export interface Wire {
  /** Stops the other side from sending, until `resume`. */
  readonly pause: () => void
  readonly resume: () => void
  /** Calls `written` when there is room for more, or the other side is gone. */
  readonly write: (bytes: Uint8Array, written: () => void) => void
}

/** Buffered bytes from which on the other side is paused. */
const mostWaiting = 64 * 1024

/** A byte channel over a wire. The wire's owner calls `arrived` and `ended`; data that arrived before the end is received before it. */
export const byteChannel = (
  wire: Wire,
): { readonly channel: ByteChannel; readonly arrived: (bytes: Uint8Array) => void; readonly ended: () => void } => {
  const waiting: Uint8Array[] = []
  let size = 0
  let isOver = false
  let wake: (() => void) | undefined
  const next = (): Uint8Array | undefined => {
    const bytes = waiting.shift()
    if (bytes === undefined) return undefined
    if (size >= mostWaiting && size - bytes.length < mostWaiting && !isOver) wire.resume()
    size -= bytes.length
    return bytes
  }
  return {
    channel: {
      receive: Effect.callback((resume) => {
        const take = (): void => {
          if (waiting.length === 0 && !isOver) return
          wake = undefined
          resume(Effect.succeed(next()))
        }
        wake = take
        take()
        return Effect.sync(() => (wake = undefined))
      }),
      send: (bytes) =>
        Effect.callback((resume) => {
          if (isOver) return resume(Effect.void)
          wire.write(bytes, () => resume(Effect.void))
        }),
    },
    arrived: (bytes) => {
      if (bytes.length === 0 || isOver) return
      waiting.push(bytes)
      if (size < mostWaiting && size + bytes.length >= mostWaiting) wire.pause()
      size += bytes.length
      wake?.()
    },
    ended: () => {
      isOver = true
      wake?.()
    },
  }
}

/** Reads an exact number of bytes at a time; `rest` continues the channel, starting with bytes received beyond those taken. */
export const exactly = (
  channel: ByteChannel,
): { readonly take: (count: number) => Effect.Effect<Uint8Array | undefined>; readonly rest: ByteChannel } => {
  let held: Uint8Array = new Uint8Array(0)
  return {
    take: (count) =>
      Effect.gen(function* () {
        while (held.length < count) {
          const more = yield* channel.receive
          if (more === undefined) return undefined
          const joined = new Uint8Array(held.length + more.length)
          joined.set(held)
          joined.set(more, held.length)
          held = joined
        }
        const taken = held.subarray(0, count)
        held = held.subarray(count)
        return taken
      }),
    rest: {
      send: channel.send,
      receive: Effect.suspend(() => {
        if (held.length === 0) return channel.receive
        const first = held
        held = new Uint8Array(0)
        return Effect.succeed(first)
      }),
    },
  }
}
