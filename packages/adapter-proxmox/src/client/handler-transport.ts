import type { PveRequest, PveTransport } from "./transport.ts"

/** An API in the same process: one function from a request to an answer, without a socket. */
export type PveHandler = (
  request: Pick<PveRequest, "method" | "path" | "headers"> & { readonly body?: string },
) => Promise<{ readonly status: number; readonly reason: string; readonly body: string }>

/** Carries requests to such a function. A rejection counts as delivered, unless its `code` says otherwise; there are no time-outs. */
export const handlerTransport = (handler: PveHandler): PveTransport => ({
  send: async ({ method, path, headers, body }) => {
    const answer = await handler({ method, path, headers, ...(body === undefined ? {} : { body }) })
    return { status: answer.status, statusText: answer.reason, body: new TextEncoder().encode(answer.body) }
  },
})
