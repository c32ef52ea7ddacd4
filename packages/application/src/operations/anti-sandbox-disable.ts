import { operation } from "../operation/operation.ts"
import { changeDisguises } from "../range/change-disguises.ts"
import { AntiSandboxOutcome, AntiSandboxSelectPayload, antiSandboxStatuses } from "../wire/anti-sandbox.ts"

export const antiSandboxDisable = operation({
  id: "antiSandboxDisable",
  route: "POST /antisandbox/disable",
  group: "AntiSandbox",
  origin: "ours",
  does: "change the disguises of machines",
  summary: "Restore the original appearance of disguised machines; they restart",
  access: "range-access",
  target: "range",
  body: { type: "json", required: true, schema: AntiSandboxSelectPayload },
  output: { type: "json", schema: AntiSandboxOutcome },
  statuses: antiSandboxStatuses,
  handle: ({ range, body, user }) =>
    changeDisguises(`remove the disguises of machines of range ${range.id}`, range, body.vmIDs, undefined, user.id),
})
