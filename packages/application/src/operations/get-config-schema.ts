import { rangeConfigJsonSchema } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { serverDefaults } from "../range/read-config.ts"

export const getConfigSchema = operation({
  id: "getConfigSchema",
  route: "GET /range/config/schema",
  group: "Range",
  origin: "ours",
  does: "read the schema of configurations",
  summary: "The JSON Schema of range configurations, for editors",
  access: "user",
  target: "none",
  output: { type: "prepared-json", schema: Schema.Record(Schema.String, Schema.Unknown) },
  statuses: { 200: "a JSON Schema (2020-12) with this installation's defaults" },
  handle: () =>
    Effect.map(serverDefaults, (defaults) =>
      JSON.stringify(rangeConfigJsonSchema({ id: "/api/v2/range/config/schema", defaults })),
    ),
})
