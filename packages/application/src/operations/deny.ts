import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { denyEntries } from "../range/allow-entries.ts"
import { AllowPayload, allowStatuses, ItemFailures } from "../wire/testing.ts"

export const deny = operation({
  id: "deny",
  route: "POST /testing/deny",
  group: "Testing",
  does: "deny domains and addresses while testing",
  summary: "Stop allowing domains and addresses",
  access: "range-access",
  target: "range",
  body: { type: "json", required: true, schema: AllowPayload },
  output: {
    type: "json",
    schema: Schema.Struct({ denied: Schema.optionalKey(Schema.Array(Schema.String)), errors: Schema.optionalKey(ItemFailures) }),
  },
  statuses: allowStatuses,
  handle: ({ range, body, user }) =>
    Effect.map(denyEntries(range, body, user.id), ({ done, errors }) => ({
      ...(done.length === 0 ? {} : { denied: done }),
      ...(errors.length === 0 ? {} : { errors }),
    })),
})
