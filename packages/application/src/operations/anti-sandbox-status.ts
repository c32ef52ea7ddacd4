import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { packagesStatus } from "../host/packages-status.ts"
import { operation } from "../operation/operation.ts"

export const antiSandboxStatus = operation({
  id: "antiSandboxStatus",
  route: "GET /antisandbox/status",
  group: "AntiSandbox",
  does: "read the state of the anti-sandbox packages",
  summary: "Which QEMU packages the nodes have, as far as the service knows: standard, custom, mixed or unknown",
  access: "user",
  target: "none",
  output: {
    type: "json",
    schema: Schema.Struct({ result: Schema.Struct({ status: Schema.String, message: Schema.String }) }),
  },
  statuses: { 200: "what the last check found; administrators also read the versions of each node" },
  handle: ({ user }) => Effect.map(packagesStatus(user.isAdmin), (result) => ({ result })),
})
