import { renderSshConfig } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { loadNamedHosts } from "../range/hosts.ts"
import { TextResult } from "../wire/common.ts"

export const getSshConfig = operation({
  id: "getSSHConfig",
  route: "GET /range/sshconfig",
  group: "Range",
  does: "read the SSH client file of a range",
  summary: "An SSH client file for the range's machines",
  access: "range-access",
  target: "range",
  /** A machine's name or VMID; absent: all of them. */
  query: { machine: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: TextResult },
  statuses: {
    200: "a file for ssh -F; empty while no machine has an address",
    404: "the range is unknown, or none is selected; it has no such machine",
  },
  handle: ({ range, query }) =>
    Effect.map(loadNamedHosts(range, query.machine), ({ hosts }) => ({ result: renderSshConfig(hosts) })),
})
