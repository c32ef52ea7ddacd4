import { InvalidInput } from "@rangewright/domain"
import type { IncomingMessage } from "node:http"

const hostsOf = ({ rawHeaders }: IncomingMessage): number => {
  let count = 0
  // names and values alternate
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
 * Throws `InvalidInput` for a request that a proxy in front of this server may interpret differently: which host it is for, or where it
 * ends. Node's parser takes the first of two hosts, and only checks the last word of `Transfer-Encoding`. Whatever follows such a request
 * on its connection is refused too, as it may have been meant as its body.
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
