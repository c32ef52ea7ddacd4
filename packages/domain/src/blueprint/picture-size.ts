import type { PictureType } from "./picture.ts"

/** Width and height in pixels. */
export interface PictureSize {
  readonly width: number
  readonly height: number
}

type View = DataView<ArrayBufferLike>
const text = (view: View, at: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((n) => (at + n < view.byteLength ? view.getUint8(at + n) : 0)))
/** Three bytes, least significant first. */
const three = (view: View, at: number): number => view.getUint16(at, true) + view.getUint8(at + 2) * 0x1_0000

const ofPng = (view: View): PictureSize | undefined =>
  text(view, 12) === "IHDR" ? { width: view.getUint32(16), height: view.getUint32(20) } : undefined

const ofGif = (view: View): PictureSize => ({ width: view.getUint16(6, true), height: view.getUint16(8, true) })

const ofWebp = (view: View): PictureSize | undefined => {
  switch (text(view, 12)) {
    case "VP8X":
      return { width: 1 + three(view, 24), height: 1 + three(view, 27) }
    case "VP8L": {
      const bits = view.getUint32(21, true)
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
    }
    case "VP8 ":
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
    default:
      return undefined
  }
}

/** Segments of a JPEG that tell its size: start of frame, of any kind. */
const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)

const ofJpeg = (view: View): PictureSize | undefined => {
  let at = 2
  while (view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1)
    // padding
    if (marker === 0xff) at += 1
    else if (isFrame(marker)) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) }
    else at += 2 + view.getUint16(at + 2)
  }
  return undefined
}

const readers: Readonly<Record<PictureType, (view: View) => PictureSize | undefined>> = {
  "image/png": ofPng,
  "image/jpeg": ofJpeg,
  "image/gif": ofGif,
  "image/webp": ofWebp,
}

/** The size that a picture states; undefined when it states none, so that no browser draws it. */
export const pictureSizeOf = (type: PictureType, bytes: Uint8Array): PictureSize | undefined => {
  try {
    return readers[type](new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  } catch (cause) {
    // it ends before its size
    if (cause instanceof RangeError) return undefined
    throw cause
  }
}
