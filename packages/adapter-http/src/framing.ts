import { InvalidInput } from "@rangewright/domain"
import type { IncomingMessage } from "node:http"

const hostsOf = ({ rawHeaders }: IncomingMessage): number => {
  let count = 0
  // names and values in turn
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === "host") count++
  return count
}

const problemOf = (request: IncomingMessage): InvalidInput | undefined => {
  if (hostsOf(request) > 1) return new InvalidInput({ what: "Cannot read the request: it has more than one Host header" })
  const encoding = request.headers["transfer-encoding"]
  if (encoding === undefined || (encoding.toLowerCase() === "chunked" && request.httpVersion === "1.1")) return undefined
  return new InvalidInput({
    what: "Cannot read the request: its Transfer-Encoding is not supported",
    hint: "Send a Content-Length, or Transfer-Encoding: chunked over HTTP/1.1.",
  })
}

const refused = new WeakSet<object>()

/**
 * Throws `InvalidInput` for a request that a server before this one may read in another way: which host it is for, and where it ends. Node's
 * parser takes the first of two hosts, and looks at the last word of `Transfer-Encoding` alone. What comes after such a request on its
 * connection is refused too: it may have been meant as its body.
 */
export const checkFraming = (request: IncomingMessage): void => {
  const problem = problemOf(request)
  if (problem !== undefined) {
    refused.add(request.socket)
    throw problem
  }
  if (refused.has(request.socket))
    throw new InvalidInput({ what: "Cannot read the request: an earlier request on its connection was refused" })
}
