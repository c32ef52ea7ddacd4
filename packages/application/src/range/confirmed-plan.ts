import { InvalidInput, type Plan, planFingerprint, type Range } from "@rangewright/domain"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { deployDoing, restoreRequest, storeRequest } from "../run/request.ts"
import type { DeployOptions } from "../run/request.ts"

/** A token for a plan that somebody has seen: its options and its fingerprint. Contains no secret, proves nothing. */
export const confirmationOf = (options: DeployOptions, plan: Plan): string =>
  `${Base64Url.encode(JSON.stringify(storeRequest({ kind: "deploy", options })))}.${planFingerprint(plan)}`

/** Longer tokens were not made here. */
const mostCharacters = 100_000

const parsed = (text: string): Result.Result<unknown, unknown> =>
  Result.flatMap(Base64Url.decodeString(text), (json) => Result.try(() => JSON.parse(json) as unknown))

/** What a confirmation is read for: completes "Cannot …", and a hint that says where a confirmation comes from. */
interface Purpose {
  readonly doing: string
  readonly source: string
}

/** The options of the deploy that does what was confirmed, or nothing. */
export const readConfirmation = (
  confirmation: string,
  { doing, source }: Purpose,
): Effect.Effect<DeployOptions & { readonly confirmed: string }, InvalidInput> => {
  const [text = "", fingerprint = "", ...more] = confirmation.length > mostCharacters ? [] : confirmation.split(".")
  const read = parsed(text)
  const request = Result.isSuccess(read) ? restoreRequest(read.success as Parameters<typeof restoreRequest>[0]) : undefined
  if (request?.kind !== "deploy" || !/^[0-9a-f]{32}$/u.test(fingerprint) || more.length > 0)
    return Effect.fail(
      new InvalidInput({
        what: `Cannot ${doing}: confirm does not come from a plan`,
        hint: `Send back \`confirm\` of ${source}.`,
      }),
    )
  const { resumes: _other, ...options } = request.options
  return Effect.succeed({ ...options, confirmed: fingerprint })
}

/** The same for a new deploy. `beside`: the other options of the request, which must be absent. */
export const confirmedOptions = (
  range: Pick<Range, "id">,
  confirmation: string,
  { dryRun: _dryRun, ...beside }: Readonly<Record<string, unknown>>,
): Effect.Effect<DeployOptions, InvalidInput> => {
  const doing = deployDoing(range, {})
  const others = Object.entries(beside).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  return others.length > 0
    ? Effect.fail(
        new InvalidInput({
          what: `Cannot ${doing}: confirm includes all options of its plan, but ${others.join(", ")} came with it`,
          hint: "Send only confirm.",
        }),
      )
    : readConfirmation(confirmation, { doing, source: "GET /range/plan, or of a deploy with dryRun" })
}
