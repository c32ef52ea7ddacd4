import * as Effect from "effect/Effect"
import { changePackages } from "../host/change-packages.ts"
import { changeTexts } from "../host/packages-run.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"
import { packagesStatuses } from "../wire/anti-sandbox.ts"

export const antiSandboxInstallCustom = operation({
  id: "antiSandboxInstallCustom",
  route: "POST /antisandbox/install-custom",
  group: "AntiSandbox",
  does: changeTexts.custom,
  summary: "Install the patched QEMU packages that the operator signed, node by node, and hold them",
  access: "admin",
  target: "none",
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "all nodes have the custom packages; running machines keep what they were started with",
    ...packagesStatuses,
  },
  handle: ({ caller }) => Effect.map(changePackages("custom", caller.id), (result) => ({ result })),
})
