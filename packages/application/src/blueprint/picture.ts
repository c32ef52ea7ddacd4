import {
  InvalidInput,
  mostPictureBytes,
  mostPicturePixels,
  type Picture,
  pictureName,
  pictureSizeOf,
  pictureTypeOf,
} from "@rangewright/domain"
import { CredentialHasher } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { UploadedFile } from "../operation/operation.ts"

const what = "Failed to update record."

/**
 * An uploaded picture under a generated name; refused when it is too large or of a kind that is not stored, whatever the sender calls it.
 */
export const uploadedPicture = ({ filename, bytes }: UploadedFile): Effect.Effect<Picture, InvalidInput, CredentialHasher> =>
  Effect.gen(function* () {
    const hasher = yield* CredentialHasher
    const refused = (message: string) => new InvalidInput({ what, issues: [{ path: "thumbnail", message }] })
    if (bytes.length > mostPictureBytes) return yield* refused(`at most ${mostPictureBytes} bytes`)
    const type = pictureTypeOf(bytes)
    if (type === undefined) return yield* refused("a PNG, JPEG, GIF or WebP picture is needed")
    const size = pictureSizeOf(bytes)
    if (size === undefined) return yield* refused("the picture is damaged: it does not say how large it is")
    if (Math.max(size.width, size.height) > mostPicturePixels)
      return yield* refused(`at most ${mostPicturePixels} pixels wide and high; it is ${size.width} x ${size.height}`)
    return { name: pictureName(filename, hasher.randomText(10), type), type, bytes }
  })
