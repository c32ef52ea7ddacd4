import { operation } from "../operation/operation.ts"
import { changeDisguises } from "../range/change-disguises.ts"
import { AntiSandboxOutcome, AntiSandboxSelectPayload, antiSandboxStatuses } from "../wire/anti-sandbox.ts"

export const antiSandboxDisable = operation({
  id: "antiSandboxDisable",
  route: "POST /antisandbox/disable",
  group: "AntiSandbox",
  origin: "ours",
  does: "change what machines are taken for",
  summary: "Give machines back what they showed before they were disguised; they restart",
  access: "range-access",
  target: "range",
  body: { type: "json", required: true, schema: AntiSandboxSelectPayload },
  output: { type: "json", schema: AntiSandboxOutcome },
  statuses: antiSandboxStatuses,
  handle: ({ range, body, user }) =>
    changeDisguises(`take the disguises off machines of range ${range.id}`, range, body.vmIDs, undefined, user.id),
})
