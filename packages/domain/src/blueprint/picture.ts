/** The kinds of pictures that are kept, each with its ending. */
const endings = { "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp" } as const
export const pictureTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const

export type PictureType = (typeof pictureTypes)[number]

/** The ending of a file with such a picture, without the dot. */
export const pictureEnding = (type: PictureType): string => endings[type]

/** Bytes that a picture may have. */
export const mostPictureBytes = 10 * 1024 * 1024

/** A picture as it is kept and served. */
export interface Picture {
  /** Its place in a URL: nobody can guess it who was not told. */
  readonly name: string
  readonly type: PictureType
  readonly bytes: Uint8Array
}

const text = (bytes: Uint8Array, from: number, to: number): string => String.fromCharCode(...bytes.subarray(from, to))

/** What the bytes begin as: what a sender says of them is not believed, for they are served to browsers. Undefined: none of the kinds. */
export const pictureTypeOf = (bytes: Uint8Array): PictureType | undefined => {
  if (text(bytes, 0, 8) === "\u0089PNG\r\n\u001a\n") return "image/png"
  if (text(bytes, 0, 3) === "\u00ff\u00d8\u00ff") return "image/jpeg"
  if (text(bytes, 0, 6) === "GIF87a" || text(bytes, 0, 6) === "GIF89a") return "image/gif"
  return text(bytes, 0, 4) === "RIFF" && text(bytes, 8, 12) === "WEBP" ? "image/webp" : undefined
}

/** `<original name, cleaned>_<random>.<ending of its kind>`; at most 80 letters of the name, digits, `_` and `-` stay. */
export const pictureName = (original: string, random: string, type: PictureType): string => {
  const clean = original
    .replace(/\.[^.]*$/u, "")
    .replace(/[^A-Za-z0-9_-]+/gu, "_")
    .slice(0, 80)
  return `${clean === "" ? "picture" : clean}_${random}.${endings[type]}`
}
