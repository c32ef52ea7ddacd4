import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { configText, mostConfigBytes } from "../range/check-config.ts"
import { matching, versionOf } from "../operation/versions.ts"
import { storeConfig } from "../range/store-config.ts"
import { TextResult } from "../wire/common.ts"
import { BooleanText } from "../wire/parameters.ts"

export const putConfig = operation({
  id: "putConfig",
  route: "PUT /range/config",
  group: "Range",
  does: "set the configuration of a range",
  summary: "Check a configuration and store it, byte for byte; with If-Match only if the stored one has this ETag",
  access: "range-access",
  target: "range",
  query: { force: Schema.optionalKey(BooleanText) },
  body: { type: "multipart", fields: { force: Schema.optionalKey(BooleanText) }, file: "file", maxBytes: mostConfigBytes },
  conditional: true,
  output: { type: "marked-json", schema: TextResult },
  statuses: {
    200: "the configuration was stored; warnings follow in the text, and the machines that stay although they are not in it",
    400: "the file is missing or force is not a boolean; the configuration breaks a rule: every finding is listed",
    409: "testing mode is on and force is not set; the stored configuration is not the one that If-Match names",
    413: "the file is too large",
  },
  handle: ({ range, user, query, body, file, meta }) =>
    Effect.gen(function* () {
      const force = body.force ?? query.force ?? false
      const text = configText(file)
      const lines = yield* storeConfig({ range, user, force, text, replaces: yield* matching(meta.ifMatch) })
      const result = [`Configuration of range ${range.id} stored`, ...lines].join("\n")
      return { json: { result }, version: yield* versionOf(yield* text) }
    }),
})
