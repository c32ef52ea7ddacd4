import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { allowEntries } from "../range/allow-entries.ts"
import { AllowPayload, allowStatuses, ItemFailures } from "../wire/testing.ts"

export const allow = operation({
  id: "allow",
  route: "POST /testing/allow",
  group: "Testing",
  does: "allow domains and addresses while testing",
  summary: "Let the range reach domains and addresses while testing",
  access: "range-access",
  target: "range",
  body: { type: "json", required: true, schema: AllowPayload },
  output: {
    type: "json",
    schema: Schema.Struct({ allowed: Schema.optionalKey(Schema.Array(Schema.String)), errors: Schema.optionalKey(ItemFailures) }),
  },
  statuses: allowStatuses,
  handle: ({ range, body, user }) =>
    Effect.map(allowEntries(range, body, user.id), ({ done, errors }) => ({
      ...(done.length === 0 ? {} : { allowed: done }),
      ...(errors.length === 0 ? {} : { errors }),
    })),
})
