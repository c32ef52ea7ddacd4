import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"

export const getConfigExample = operation({
  id: "getConfigExample",
  route: "GET /range/config/example",
  group: "Range",
  summary: "An example range configuration",
  access: "user",
  target: "none",
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "an example configuration",
    401: "no valid credentials; only admins may impersonate",
    500: "unexpected server failure",
  },
  handle: () => Effect.succeed({ result: "ludus: []\n" }),
})
