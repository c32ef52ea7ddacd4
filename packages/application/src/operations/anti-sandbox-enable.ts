import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { changeDisguises, disguiseOf } from "../range/change-disguises.ts"
import { AntiSandboxOutcome, AntiSandboxPayload, antiSandboxStatuses } from "../wire/anti-sandbox.ts"

export const antiSandboxEnable = operation({
  id: "antiSandboxEnable",
  route: "POST /antisandbox/enable",
  group: "AntiSandbox",
  tier: "enterprise",
  does: "change the disguises of machines",
  summary: "Make Windows machines look like ordinary computers; they restart",
  access: "range-access",
  target: "range",
  body: { type: "json", required: true, schema: AntiSandboxPayload },
  output: { type: "json", schema: AntiSandboxOutcome },
  statuses: antiSandboxStatuses,
  handle: ({ range, body, user }) =>
    Effect.gen(function* () {
      const doing = `disguise machines of range ${range.id}`
      return yield* changeDisguises(doing, range, body.vmIDs, yield* disguiseOf(doing, body), user.id)
    }),
})
