import { Conflict } from "@rangewright/domain"
import { Ranges, RunJournal } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { configIssues, configText, mostConfigBytes } from "../range/check-config.ts"
import { refusedConfig } from "../range/read-config.ts"
import { TextResult } from "../wire/common.ts"
import { issueLine } from "../wire/config-issue.ts"
import { BooleanText } from "../wire/parameters.ts"
import { rangeStatuses } from "../wire/statuses.ts"

/** A run keeps the configuration it was planned with, so a new one may be stored at any time; the text says when it takes effect. */
export const putConfig = operation({
  id: "putConfig",
  route: "PUT /range/config",
  group: "Range",
  summary: "Check a configuration and store it, byte for byte",
  access: "range-access",
  target: "range",
  query: { force: Schema.optionalKey(BooleanText) },
  body: { type: "multipart", fields: { force: Schema.optionalKey(BooleanText) }, file: "file", maxBytes: mostConfigBytes },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "the configuration was stored; warnings follow in the text",
    ...rangeStatuses,
    400: "the file is missing or force is no boolean; the configuration breaks a rule: every finding is listed; userID names an unknown user",
    409: "testing mode is on and force is not set",
    413: "the file is too large",
  },
  handle: ({ range, user, query, body, file }) =>
    Effect.gen(function* () {
      const force = body.force ?? query.force ?? false
      if (range.testing.enabled && !force)
        return yield* Effect.fail(
          new Conflict({
            what: `Cannot change the configuration of range ${range.id}: testing mode is on`,
            hint: "Stop testing first, or repeat with force=true (--force on the command line).",
          }),
        )
      const text = yield* configText(file)
      const issues = yield* configIssues(text, range, user)
      if (issues.some((issue) => issue.severity === "error")) return yield* Effect.fail(refusedConfig(issues))
      yield* (yield* Ranges).setConfig(range.id, text)
      const run = yield* (yield* RunJournal).active(range.id)
      const lines = [
        `Configuration of range ${range.id} stored`,
        ...(run === undefined
          ? []
          : [`Run ${run.id} (${run.kind}) goes on with what it was planned from; deploy again to apply this`]),
        ...issues.map((issue) => `Warning: ${issueLine(issue)}`),
      ]
      return { result: lines.join("\n") }
    }),
})
