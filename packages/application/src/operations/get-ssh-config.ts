import { renderSshConfig } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { loadHosts } from "../range/hosts.ts"
import { TextResult } from "../wire/common.ts"

export const getSshConfig = operation({
  id: "getSSHConfig",
  route: "GET /range/sshconfig",
  group: "Range",
  does: "read the SSH client file of a range",
  summary: "An SSH client file for the range's machines",
  access: "range-access",
  target: "range",
  output: { type: "json", schema: TextResult },
  statuses: { 200: "a file for ssh -F; empty while no machine has an address" },
  handle: ({ range }) => Effect.map(loadHosts(range), ({ hosts }) => ({ result: renderSshConfig(hosts) })),
})
