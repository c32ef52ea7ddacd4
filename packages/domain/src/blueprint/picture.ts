/** The supported picture types and their file extensions. */
const endings = { "image/png": "png", "image/jpeg": "jpg", "image/gif": "gif", "image/webp": "webp" } as const
export const pictureTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const

export type PictureType = (typeof pictureTypes)[number]

/** The file extension for the type, without the dot. */
export const pictureEnding = (type: PictureType): string => endings[type]

/** Maximum size of a picture, in bytes. */
export const mostPictureBytes = 10 * 1024 * 1024

/** Maximum width and height of a picture, in pixels: a few bytes may state more than the memory of a browser holds. */
export const mostPicturePixels = 8192

/** A picture as stored and served. */
export interface Picture {
  /** Its name in the URL, which cannot be guessed. */
  readonly name: string
  readonly type: PictureType
  readonly bytes: Uint8Array
}

const text = (bytes: Uint8Array, from: number, to: number): string => String.fromCharCode(...bytes.subarray(from, to))

/**
 * The type according to the first bytes: the type that a sender states is not trusted, because pictures are served to browsers. Undefined
 * if unsupported.
 */
export const pictureTypeOf = (bytes: Uint8Array): PictureType | undefined => {
  if (text(bytes, 0, 8) === "\u0089PNG\r\n\u001a\n") return "image/png"
  if (text(bytes, 0, 3) === "\u00ff\u00d8\u00ff") return "image/jpeg"
  if (text(bytes, 0, 6) === "GIF87a" || text(bytes, 0, 6) === "GIF89a") return "image/gif"
  return text(bytes, 0, 4) === "RIFF" && text(bytes, 8, 12) === "WEBP" ? "image/webp" : undefined
}

/**
 * `<cleaned original name>_<random>.<extension>`; the original name is cut to 80 characters and keeps ASCII letters, digits, `_` and `-`.
 */
export const pictureName = (original: string, random: string, type: PictureType): string => {
  const clean = original
    .replace(/\.[^.]*$/u, "")
    .replace(/[^A-Za-z0-9_-]+/gu, "_")
    .slice(0, 80)
  return `${clean === "" ? "picture" : clean}_${random}.${endings[type]}`
}
