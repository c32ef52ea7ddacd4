import { describe, expect, it } from "vitest"
import { makeInputWatch } from "../src/console/input-watch.ts"

const opening = [1]
const pixelFormat = [0, ...Array<number>(19).fill(5)]
const encodings = [2, 0, 0, 2, ...Array<number>(8).fill(4)]
const picture = [3, 1, 0, 0, 0, 0, 4, 4, 5, 5]
const key = [4, 1, 0, 0, 0, 0, 0, 0x61]
const pointer = [5, 0, 4, 4, 4, 4]
const clipboard = [6, 0, 0, 0, 0, 0, 0, 3, 4, 4, 4]
const longClipboard = [6, 0, 0, 0, 0xff, 0xff, 0xff, 0xfa, ...Array<number>(6).fill(4)]
const continuous = [150, 1, 0, 0, 0, 0, 4, 4, 5, 5]
const fence = [248, 0, 0, 0, 0, 0, 0, 0, 4, 4, 4, 4, 4]
const reset = [250, 0, 1, 4]
const size = [251, 0, 4, 4, 4, 4, 1, 0, ...Array<number>(16).fill(5)]
const qemuKey = [255, 0, 0, 1, 0, 0, 0, 0x61, 0, 0, 0, 0x1e]
const sound = [255, 1, 0, 0]
const soundFormat = [255, 1, 0, 2, 4, 4, 4, 4, 4, 4]
const quiet = { pixelFormat, encodings, picture, clipboard, longClipboard, continuous, fence, size, sound, soundFormat }

/** What a watch of an open console finds in each chunk. */
const watched = (...chunks: readonly (readonly number[])[]): readonly boolean[] => {
  const hasInput = makeInputWatch()
  expect(hasInput(Uint8Array.from(opening))).toBe(true)
  return chunks.map((chunk) => hasInput(Uint8Array.from(chunk)))
}

describe("input in a console", () => {
  it.each(Object.entries({ key, pointer, reset, qemuKey }))("is a message with a %s", (_what, message) => {
    expect(watched(picture, message, picture, [...picture, ...message, ...picture])).toEqual([false, true, false, true])
  })

  it.each(Object.entries(quiet))("is not a %s, whatever is in it", (_what, message) => {
    expect(watched(message, message, [...message, ...message], key)).toEqual([false, false, false, true])
  })

  it("is found wherever the messages are cut", () => {
    const bytes = [...Object.values(quiet).flat(), ...qemuKey, ...Object.values(quiet).flat()]
    for (const length of [1, 2, 3, 5, 7, 11, 64]) {
      const chunks = Array.from({ length: Math.ceil(bytes.length / length) }, (_, i) => bytes.slice(i * length, (i + 1) * length))
      expect(watched(...chunks).filter(Boolean), `${length} bytes each`).toHaveLength(1)
    }
  })

  it("is everything after a message that nobody knows", () => {
    expect(watched(picture, [...picture, 99, 3], picture)).toEqual([false, true, true])
  })
})
