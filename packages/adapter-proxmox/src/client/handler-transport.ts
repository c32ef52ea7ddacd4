import type { Duplex } from "node:stream"
import { openSocket } from "./open-socket.ts"
import type { PveRequest, PveTransport } from "./transport.ts"

/** An API in the same process: a function from request to answer, without a socket. */
export type PveHandler = (
  request: Pick<PveRequest, "method" | "path" | "headers"> & { readonly body?: string },
) => Promise<{ readonly status: number; readonly reason: string; readonly body: string }>

/**
 * Passes requests to such a function. A rejection counts as delivered, unless its `code` says otherwise; there are no time-outs. `connect`
 * opens a connection to the API's port, for web sockets.
 */
export const handlerTransport = (handler: PveHandler, connect?: () => Duplex): PveTransport => ({
  ...(connect === undefined
    ? {}
    : {
        socket: (path, headers) => openSocket(new URL(path, "http://in-process"), headers, { createConnection: connect }),
      }),
  send: async ({ method, path, headers, body }) => {
    const answer = await handler({ method, path, headers, ...(body === undefined ? {} : { body }) })
    return { status: answer.status, statusText: answer.reason, body: new TextEncoder().encode(answer.body) }
  },
})
