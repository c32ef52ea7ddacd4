import * as Effect from "effect/Effect"
import { changePackages } from "../host/change-packages.ts"
import { changeTexts } from "../host/packages-run.ts"
import { operation } from "../operation/operation.ts"
import { TextResult } from "../wire/common.ts"
import { packagesStatuses } from "../wire/anti-sandbox.ts"

export const antiSandboxInstallStandard = operation({
  id: "antiSandboxInstallStandard",
  route: "POST /antisandbox/install-standard",
  group: "AntiSandbox",
  does: changeTexts.standard,
  summary: "Reinstall the QEMU packages of the nodes' own repositories, node by node, and release the hold on them",
  access: "admin",
  target: "none",
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "all nodes have the standard packages; running machines keep what they were started with",
    ...packagesStatuses,
  },
  handle: ({ caller }) => Effect.map(changePackages("standard", caller.id), (result) => ({ result })),
})
