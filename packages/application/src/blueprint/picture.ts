import {
  InvalidInput,
  mostPictureBytes,
  mostPicturePixels,
  type Picture,
  pictureName,
  pictureSizeOf,
  type PictureType,
  pictureTypeOf,
} from "@rangewright/domain"
import { CredentialHasher } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { UploadedFile } from "../operation/operation.ts"

/** The type of a picture, or why it is not stored. Other users' browsers show it, so uploads and sources have the same limits. */
export const checkedPictureType = (bytes: Uint8Array): Result.Result<PictureType, string> => {
  if (bytes.length > mostPictureBytes) return Result.fail(`at most ${mostPictureBytes} bytes`)
  const type = pictureTypeOf(bytes)
  if (type === undefined) return Result.fail("a PNG, JPEG, GIF or WebP picture is needed")
  const size = pictureSizeOf(bytes)
  if (size === undefined) return Result.fail("its size cannot be read: it is damaged, or begins with too much metadata")
  const { width, height } = size
  return Math.min(width, height) >= 1 && Math.max(width, height) <= mostPicturePixels
    ? Result.succeed(type)
    : Result.fail(`from 1 to ${mostPicturePixels} pixels wide and high; it is ${width} x ${height}`)
}

const what = "Failed to update record."

/**
 * An uploaded picture under a generated name; refused when it is too large or of a kind that is not stored, whatever the sender calls it.
 */
export const uploadedPicture = ({ filename, bytes }: UploadedFile): Effect.Effect<Picture, InvalidInput, CredentialHasher> =>
  Effect.gen(function* () {
    const hasher = yield* CredentialHasher
    const refused = (message: string) => new InvalidInput({ what, issues: [{ path: "thumbnail", message }] })
    const type = checkedPictureType(bytes)
    if (Result.isFailure(type)) return yield* refused(type.failure)
    return { name: pictureName(filename, hasher.randomText(10), type.success), type: type.success, bytes }
  })
