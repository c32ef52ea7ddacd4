import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { configIssues, configText, mostConfigBytes } from "../range/check-config.ts"
import { ConfigIssueObject } from "../wire/config-issue.ts"

export const validateConfig = operation({
  id: "validateConfig",
  route: "POST /range/config/validate",
  group: "Range",
  origin: "ours",
  does: "check a configuration",
  summary: "All errors and warnings about a configuration, with positions; nothing is stored",
  access: "range-access",
  target: "range",
  mutates: false,
  body: { type: "multipart", fields: {}, file: "file", maxBytes: mostConfigBytes },
  output: {
    type: "json",
    schema: Schema.Struct({
      /** True if no finding is an error. */
      valid: Schema.Boolean,
      issues: Schema.Array(ConfigIssueObject),
    }).annotate({ identifier: "ConfigReport" }),
  },
  statuses: {
    200: "the findings, errors first",
    400: "the file is missing or not text",
    413: "the file is too large",
  },
  handle: ({ range, user, file }) =>
    Effect.gen(function* () {
      const issues = yield* configIssues(yield* configText(file), range, user)
      return { valid: issues.every((issue) => issue.severity === "warning"), issues }
    }),
})
