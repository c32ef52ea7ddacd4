import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Consoles } from "../console/consoles.ts"
import { operation } from "../operation/operation.ts"

/** A console: a web socket that carries RFB, as noVNC speaks it. Browsers send no credentials with it, so the ticket is the credential. */
export const vmConsoleWebsocketHandler = operation({
  id: "vmConsoleWebsocketHandler",
  route: "GET /vm/console/view",
  group: "VM",
  does: "open the console of a machine",
  summary: "The console of a machine as a web socket: RFB in binary frames, with the ticket's password",
  access: "anonymous",
  target: "none",
  // it consumes the ticket
  mutates: true,
  query: { ticket: Schema.String },
  output: { type: "socket", protocol: "binary" },
  statuses: {
    101: "the web socket carries the console",
    400: "the ticket is missing, or the request opens no web socket",
    403: "the ticket is unknown, used, expired or from another page; or its user may no longer open the console",
    404: undefined,
    500: "unexpected server failure",
    502: "the hypervisor does not open a console; a page of the service learns the reason from a web socket that is closed at once",
  },
  handle: ({ query, meta }) => Effect.flatMap(Consoles, (consoles) => consoles.view(query.ticket, meta)),
})
