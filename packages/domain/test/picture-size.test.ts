import { pictureSizeOf, type PictureType, pictureTypeOf } from "@rangewright/domain"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const bytesOf = (...parts: readonly (string | readonly number[])[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === "string" ? [...part].map((sign) => sign.charCodeAt(0)) : part)))

const pngHead = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
const zeros = (count: number): readonly number[] => Array.from({ length: count }, () => 0)

const cases: readonly (readonly [string, Uint8Array, PictureType, number, number])[] = [
  ["PNG", bytesOf(pngHead, [0, 0, 0, 13], "IHDR", [0, 0, 0xea, 0x60, 0, 0, 0, 2]), "image/png", 60_000, 2],
  ["GIF", bytesOf("GIF89a", [0x40, 1, 0xff, 0xff]), "image/gif", 320, 65_535],
  ["WebP with a canvas", bytesOf("RIFF", zeros(4), "WEBPVP8X", zeros(8), [0xff, 0xff, 0, 1, 0, 1]), "image/webp", 65_536, 65_538],
  [
    "lossless WebP",
    bytesOf("RIFF", zeros(4), "WEBPVP8L", zeros(4), [0x2f, 0xff, 0xff, 0xff, 0x0f]),
    "image/webp",
    16_384,
    16_384,
  ],
  ["lossy WebP", bytesOf("RIFF", zeros(4), "WEBPVP8 ", zeros(10), [0x20, 3, 0x58, 0x42]), "image/webp", 800, 600],
  [
    "JPEG, whose size comes after other segments",
    bytesOf([0xff, 0xd8], [0xff, 0xe0, 0, 4, 9, 9], [0xff, 0xc2, 0, 11, 8, 0x03, 0x20, 0x75, 0x30]),
    "image/jpeg",
    30_000,
    800,
  ],
]

describe("the size that a picture states", () => {
  it.each(cases)("%s", (_, bytes, type, width, height) => {
    expect(pictureTypeOf(bytes)).toBe(type)
    expect(pictureSizeOf(bytes)).toEqual({ width, height })
    // from any place in a larger buffer
    const inside = new Uint8Array(bytes.length + 7)
    inside.set(bytes, 7)
    expect(pictureSizeOf(inside.subarray(7))).toEqual({ width, height })
  })

  it("is unknown where the picture ends before it, or is none", () => {
    for (const bytes of [new Uint8Array(), bytesOf("GIF89a", [0x40]), bytesOf([0xff, 0xd8], zeros(200))])
      expect(pictureSizeOf(bytes)).toBeUndefined()
  })

  it("is searched for near the beginning, so that large hostile pictures take no time", () => {
    const hostile = new Uint8Array(10 * 1024 * 1024)
    hostile.set([0xff, 0xd8, 0xff, 0xe0])
    const [, jpeg] = cases.at(-1) ?? []
    hostile.set(jpeg?.subarray(2) ?? [], 1024 * 1024)
    expect(pictureSizeOf(hostile)).toBeUndefined()
  })

  it("is read, or not, from any bytes", () => {
    const heads = cases.map(([, bytes]) => [...bytes])
    const jpeg = fc.array(fc.constantFrom(0xff, 0xd8, 0xc0, 0xe0, 0, 1), { maxLength: 60 }).map((all) => [0xff, 0xd8, ...all])
    const some = fc.tuple(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 40 })).map(([head, more]) => [...head, ...more])
    fc.assert(
      fc.property(fc.oneof(jpeg, some), (bytes) => {
        const size = pictureSizeOf(Uint8Array.from(bytes))
        expect(size === undefined || (size.width >= 0 && size.height >= 0)).toBe(true)
      }),
    )
  })
})
