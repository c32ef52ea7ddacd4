import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../../operation/operation.ts"
import { AnyObject } from "../../wire/common.ts"

export const recordHealth = operation({
  id: "recordHealth",
  route: "GET /api/health",
  base: "/",
  group: "Host",
  origin: "page",
  does: "read whether the API answers",
  summary: "Whether the API answers",
  access: "anonymous",
  target: "none",
  output: { type: "json", schema: Schema.Struct({ code: Schema.Int, message: Schema.String, data: AnyObject }) },
  statuses: { 200: "the service is up" },
  handle: () => Effect.succeed({ code: 200, message: "API is healthy.", data: {} }),
})
