import { createHash } from "node:crypto"
import { failure } from "../core/errors.ts"
import { optionalText, type Call } from "../http/call.ts"

/** A digest that changes with any part of the value. */
export const digestOfPart = (part: unknown): string =>
  createHash("sha1")
    .update(
      JSON.stringify(part, (_, value: unknown) => (value instanceof Map ? [...(value as ReadonlyMap<string, unknown>)] : value)),
    )
    .digest("hex")

/** Refuses a change if the value has changed since the caller read it. */
export const checkDigest = (call: Call, part: unknown): void => {
  const given = optionalText(call, "digest")
  if (given !== undefined && given !== digestOfPart(part))
    throw failure("detected modified configuration - file changed by other user? Try again.")
}
