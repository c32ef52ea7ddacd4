import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { packagesAsTheyAre } from "../host/node-packages.ts"
import { operation } from "../operation/operation.ts"

export const antiSandboxStatus = operation({
  id: "antiSandboxStatus",
  route: "GET /antisandbox/status",
  group: "AntiSandbox",
  does: "read the state of the anti-sandbox packages",
  summary: "Which QEMU packages the nodes have, as far as the service knows",
  access: "user",
  target: "none",
  output: {
    type: "json",
    schema: Schema.Struct({ result: Schema.Struct({ status: Schema.String, message: Schema.String }) }),
  },
  statuses: { 200: "which packages are installed" },
  handle: () => Effect.succeed({ result: packagesAsTheyAre }),
})
