import { imageSize } from "image-size"

/** Width and height in pixels. */
export interface PictureSize {
  readonly width: number
  readonly height: number
}

/** The size follows the metadata, which is rarely longer. A hostile picture of ten megabytes would block the process for seconds. */
const searched = 256 * 1024

/** The size that a picture states; undefined when there is none near its beginning. */
export const pictureSizeOf = (bytes: Uint8Array): PictureSize | undefined => {
  try {
    const { width, height } = imageSize(bytes.subarray(0, searched))
    return { width, height }
  } catch {
    return undefined
  }
}
