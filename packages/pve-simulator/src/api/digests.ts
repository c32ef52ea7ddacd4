import { createHash } from "node:crypto"
import { failure } from "../core/errors.ts"
import { optionalText, type Call } from "../http/call.ts"

/** What changes with any part of it. */
export const digestOfPart = (part: unknown): string =>
  createHash("sha1")
    .update(
      JSON.stringify(part, (_, value: unknown) => (value instanceof Map ? [...(value as ReadonlyMap<string, unknown>)] : value)),
    )
    .digest("hex")

/** Refuses a change of what has changed since its caller read it. */
export const checkDigest = (call: Call, part: unknown): void => {
  const given = optionalText(call, "digest")
  if (given !== undefined && given !== digestOfPart(part))
    throw failure("detected modified configuration - file changed by other user? Try again.")
}
