import { InvalidInput, isGroupName } from "@rangewright/domain"
import { Groups } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { newRecordId } from "../accounts/identity.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"

const longestDescription = 5000

export const createGroup = operation({
  id: "createGroup",
  route: "POST /groups",
  group: "Group",
  does: "create groups",
  summary: "Create a group, empty",
  access: "admin",
  target: "none",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ name: Schema.String, description: Schema.optionalKey(Schema.String) }),
  },
  audited: ["name"],
  output: { type: "json", schema: TextResult, status: 201 },
  statuses: {
    201: "the group was created",
    400: "the name is missing or not allowed; the body is malformed",
    409: "a group has this name",
  },
  handle: ({ body }) =>
    Effect.gen(function* () {
      const groups = yield* Groups
      const { name, description = "" } = body
      const doing = `Cannot create group ${name.slice(0, 64)}`
      if (!isGroupName(name)) {
        const message = name === "" ? "a name is needed" : "the name is not allowed"
        return yield* new InvalidInput({
          what: `${doing}: ${message}`,
          issues: [{ path: "name", message, allowed: "letters, digits, _ and -, 64 characters at most" }],
        })
      }
      if (description.length > longestDescription) {
        const message = `at most ${longestDescription} characters`
        return yield* new InvalidInput({
          what: `${doing}: the description is too long`,
          issues: [{ path: "description", message }],
        })
      }
      const createdAt = new Date(yield* Clock.currentTimeMillis)
      yield* groups.create({ name, recordId: yield* newRecordId, description, createdAt })
      return { result: `Group ${name} created` }
    }),
})
