import { InvalidInput, type Plan, planFingerprint } from "@rangewright/domain"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { restoreRequest, storeRequest } from "../run/request.ts"
import type { DeployOptions } from "../run/request.ts"

/** A token for a plan that somebody has seen: its options and its fingerprint. Contains no secret, proves nothing. */
export const confirmationOf = (options: DeployOptions, plan: Plan): string =>
  `${Base64Url.encode(JSON.stringify(storeRequest({ kind: "deploy", options })))}.${planFingerprint(plan)}`

/** Longer tokens were not made here. */
const mostCharacters = 100_000

const parsed = (text: string): Result.Result<unknown, unknown> =>
  Result.flatMap(Base64Url.decodeString(text), (json) => Result.try(() => JSON.parse(json) as unknown))

const refused = (what: string, hint: string) => Effect.fail(new InvalidInput({ what: `Cannot deploy: ${what}`, hint }))

/** The options of the deploy that does what was confirmed, or nothing. `beside`: the other options of the request, which must be absent. */
export const confirmedOptions = (
  confirmation: string,
  { dryRun: _dryRun, ...beside }: Readonly<Record<string, unknown>>,
): Effect.Effect<DeployOptions, InvalidInput> => {
  const others = Object.entries(beside).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (others.length > 0)
    return refused(`confirm includes all options of its plan, but ${others.join(", ")} came with it`, "Send only confirm.")

  const [text = "", fingerprint = "", ...more] = confirmation.length > mostCharacters ? [] : confirmation.split(".")
  const read = parsed(text)
  const request = Result.isSuccess(read) ? restoreRequest(read.success as Parameters<typeof restoreRequest>[0]) : undefined
  return request?.kind === "deploy" && /^[0-9a-f]{32}$/u.test(fingerprint) && more.length === 0
    ? Effect.succeed({ ...request.options, confirmed: fingerprint })
    : refused("confirm does not come from a plan", "Send back `confirm` of GET /range/plan, or of a deploy with dryRun.")
}
