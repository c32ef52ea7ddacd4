import type { Context } from "koa"

/** The compressions that the client takes; one that it weighs with 0 it refuses. */
export const acceptedEncodings = (ctx: Context): ReadonlySet<string> =>
  new Set(
    ctx
      .get("Accept-Encoding")
      .toLowerCase()
      .split(",")
      .map((part) => part.trim())
      .filter((part) => !/;\s*q=0(?:\.0*)?$/u.test(part))
      .flatMap((part) => part.split(";")[0]?.trim() ?? []),
  )
