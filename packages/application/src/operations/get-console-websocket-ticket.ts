import type { Vmid } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Consoles } from "../console/consoles.ts"
import { operation } from "../operation/operation.ts"
import { WholeNumberText } from "../wire/parameters.ts"
import { hypervisorAway } from "../wire/statuses.ts"

const ConsoleTicket = Schema.Struct({ ticket: Schema.String, password: Schema.String, port: Schema.Int }).annotate({
  identifier: "ConsoleTicket",
})

/** The standard port of VNC. Clients expect a number, but connect to the service's port. */
const port = 5900

export const getConsoleWebsocketTicket = operation({
  id: "getConsoleWebsocketTicket",
  route: "GET /vm/console/ticket",
  group: "VM",
  does: "open the console of a machine",
  summary: "A ticket that opens the console of a machine once, within 30 seconds, and the password for its viewer",
  access: "range-access",
  accessNote: "of the range that holds the machine",
  target: "none",
  wholeKeyOnly: true,
  query: { VMID: WholeNumberText },
  output: { type: "json", schema: ConsoleTicket },
  statuses: {
    200: "one-time ticket and password",
    400: "VMID is missing or not a number",
    403: "the caller may not use its range, or has the maximum number of consoles open",
    404: "no range has this machine",
    500: "the machine does not run, or is not the service's",
    502: hypervisorAway,
  },
  handle: ({ query, caller, user, meta }) =>
    Effect.gen(function* () {
      const consoles = yield* Consoles
      return { ...(yield* consoles.ticket({ caller, user, vmid: query.VMID as Vmid, page: meta.page })), port }
    }),
})
