import { exampleRangeConfig } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"

export const getConfigExample = operation({
  id: "getConfigExample",
  route: "GET /range/config/example",
  group: "Range",
  does: "read the example configuration",
  summary: "An example range configuration",
  access: "user",
  target: "none",
  output: { type: "json", schema: TextResult },
  statuses: { 200: "an example that a deploy accepts" },
  handle: () => Effect.succeed({ result: exampleRangeConfig }),
})
