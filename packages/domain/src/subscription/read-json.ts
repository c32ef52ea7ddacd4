import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const longestMessage = 400

/** Parses JSON according to a schema; fails with a single, limited line. */
export const readJsonText = <A>(schema: Schema.Codec<A, unknown>, text: string): Result.Result<A, string> => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return Result.fail("it is not valid JSON")
  }
  return Result.mapError(Schema.decodeUnknownResult(schema)(value), (error) =>
    error.message.replace(/\s+/gu, " ").slice(0, longestMessage),
  )
}

const fits = (pattern: RegExp, most: number, what: string) =>
  Schema.String.check(
    Schema.makeFilter((text: string) => (text.length <= most && pattern.test(text) ? undefined : `it must be ${what}`)),
  )

/** Whole seconds since 1970, up to the end of the year 9999. */
export const UnixSeconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 253_402_300_799 }))
export const dateOf = (seconds: number): Date => new Date(seconds * 1000)

/** A single line for display: printable, not blank. */
export const lineOf = (most: number) =>
  Schema.String.check(
    Schema.makeFilter((text: string) =>
      text.length <= most && text.trim() !== "" && text.isWellFormed() && !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(text)
        ? undefined
        : `it must be one line of text, not blank, of at most ${most} characters`,
    ),
  )

export const Entitlement = fits(/^[A-Z][A-Z0-9_]*$/u, 64, "an entitlement such as PRO_ROLES")
export const ThreeNumbers = fits(
  /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)$/u,
  64,
  "a version of three numbers such as 1.2.3",
)
export const Uuid = fits(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/u, 36, "a UUID in lower case")
export const Sha256 = fits(/^[0-9a-f]{64}$/u, 64, "64 hexadecimal digits in lower case")
