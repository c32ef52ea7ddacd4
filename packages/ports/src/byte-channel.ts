import * as Effect from "effect/Effect"

/** A connection that carries bytes both ways. What nobody asks for is held back at the sender, but for little. */
export interface ByteChannel {
  /** What came next, never empty; undefined: the other side is gone. */
  readonly receive: Effect.Effect<Uint8Array | undefined>
  /** Returns when there is room for more. To a side that is gone it sends nothing; `receive` tells. */
  readonly send: (bytes: Uint8Array) => Effect.Effect<void>
}

/** What a byte channel stands on. */
export interface Wire {
  /** The other side is to send no more for now, and again. */
  readonly pause: () => void
  readonly resume: () => void
  /** Calls back when there is room for more, or the other side is gone. */
  readonly write: (bytes: Uint8Array, written: () => void) => void
}

/** Bytes that wait for whoever receives; from here on the other side is told to pause. */
const mostWaiting = 64 * 1024

/** A byte channel over a wire, whose owner tells what arrives and when it is over. What arrived before the end is received before it. */
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

/** Reads a channel by numbers of bytes; what was received beyond them comes first from `rest`, which goes on with the channel. */
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
