import { parseGitUrl } from "@rangewright/domain"
import { ContentFault, urlFault } from "@rangewright/ports"
import * as Result from "effect/Result"
import { readFile } from "node:fs/promises"
import { createWriteStream } from "node:fs"
import { type IncomingMessage, request as overHttp } from "node:http"
import { request as overHttps } from "node:https"
import type { LookupFunction } from "node:net"
import { isIP } from "node:net"
import { pipeline } from "node:stream/promises"
import { type Doing, refused } from "../faults.ts"
import type { Settings } from "../options.ts"
import { type Destination, destinationOf } from "./destination.ts"

const mostRedirects = 5
/** A server that sends nothing for this long has stalled. */
const idleMillis = 30_000

/** A URL that may be requested, with its query, which repository URLs do not have. */
interface Asked {
  readonly destination: Destination
  readonly query: string
}

const checked = async (doing: Doing, text: string, settings: Settings): Promise<Asked> => {
  const [base = "", ...rest] = text.replace(/#.*/su, "").split("?")
  const url = parseGitUrl(base)
  if (Result.isFailure(url)) throw urlFault(doing, url.failure)
  if (url.success.scheme !== "https" && url.success.scheme !== "http")
    throw refused(doing, "scheme", `${url.success.scheme} cannot be used to download an archive`, "Use https.")
  const query = rest.length === 0 ? "" : `?${rest.join("?")}`
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\s\u0000-\u001f\u007f-\u{10ffff}]/u.test(query)) throw refused(doing, "url-form", "its query is not valid")
  return { destination: await destinationOf(doing, url.success, settings), query }
}

/** Resolves to the checked addresses, whatever the name resolves to by now. */
const lookupOf =
  ({ addresses }: Destination): LookupFunction =>
  (_, options, answer) => {
    const found = addresses.map((address) => ({ address, family: isIP(address) }))
    const [first] = found
    if (options.all === true || first === undefined) answer(null, found)
    else answer(null, first.address, first.family)
  }

const open = (
  doing: Doing,
  { destination, query }: Asked,
  ca: Buffer | undefined,
  signal: AbortSignal,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const { url } = destination
    const asked = (url.scheme === "https" ? overHttps : overHttp)({
      host: url.host.replace(/^\[|\]$/gu, ""),
      port: url.port,
      path: `${url.path}${query}`,
      headers: { accept: "*/*", "accept-encoding": "identity", "user-agent": "rangewright" },
      lookup: lookupOf(destination),
      agent: false,
      timeout: idleMillis,
      signal,
      ...(ca === undefined ? {} : { ca }),
    })
    asked.on("response", resolve)
    asked.on("timeout", () =>
      asked.destroy(
        new ContentFault({ doing, reason: "unreachable", detail: `its server sent nothing for ${idleMillis / 1000} s` }),
      ),
    )
    asked.on("error", (cause: NodeJS.ErrnoException) =>
      reject(
        cause instanceof ContentFault || signal.aborted
          ? cause
          : new ContentFault({
              doing,
              reason: "unreachable",
              detail: `its server cannot be reached (${cause.code ?? cause.message})`,
            }),
      ),
    )
    asked.end()
  })

const answerFault = (doing: Doing, status: number): ContentFault => {
  if (status === 404 || status === 410) return new ContentFault({ doing, reason: "not-found", detail: "there is no such file" })
  if (status === 401 || status === 403)
    return new ContentFault({ doing, reason: "unauthenticated", detail: "its server does not allow anonymous downloads" })
  return new ContentFault({ doing, reason: "unreachable", detail: `its server answered with status ${status}` })
}

async function* limited(doing: Doing, answer: IncomingMessage, most: number): AsyncGenerator<Buffer> {
  let bytes = 0
  const chunks = (answer as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
  const next = () =>
    chunks.next().catch((cause: unknown) => {
      if (cause instanceof ContentFault) throw cause
      throw new ContentFault({ doing, reason: "unreachable", detail: "the connection was lost before the end" })
    })
  for (let read = await next(); read.done !== true; read = await next()) {
    bytes += read.value.length
    if (bytes > most)
      throw new ContentFault({ doing, reason: "too-large", rule: "transfer", detail: `it is larger than ${most} bytes` })
    yield read.value
  }
}

/**
 * Downloads a URL into a file. Every URL along redirects is checked like that of a repository, and only checked addresses are connected to;
 * a redirect never leaves https. Ends with the complete file or a fault.
 */
export const download = async (
  doing: Doing,
  text: string,
  into: string,
  settings: Settings,
  signal: AbortSignal,
): Promise<void> => {
  const ca = settings.caFile === undefined ? undefined : await readFile(settings.caFile)
  let at = text
  for (let hops = 0; hops <= mostRedirects; hops += 1) {
    const asked = await checked(doing, at, settings)
    const answer = await open(doing, asked, ca, signal)
    const { statusCode: status = 0, headers } = answer
    if (status === 200) {
      await pipeline(limited(doing, answer, settings.transferBytes), createWriteStream(into, { flags: "wx", mode: 0o600 }), {
        signal,
      })
      return
    }
    answer.destroy()
    if (![301, 302, 303, 307, 308].includes(status) || headers.location === undefined) throw answerFault(doing, status)
    const next = URL.parse(headers.location, at)?.href
    if (next === undefined) throw refused(doing, "redirect", "it redirects to something that is not a valid URL")
    if (asked.destination.url.scheme === "https" && !next.startsWith("https://"))
      throw refused(doing, "redirect", "it redirects away from https")
    at = next
  }
  throw refused(doing, "redirect", `it redirects more than ${mostRedirects} times`)
}
