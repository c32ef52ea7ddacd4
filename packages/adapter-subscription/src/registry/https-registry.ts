import type { IncomingMessage } from "node:http"
import { request } from "node:https"
import { fault } from "../faults.ts"
import type { Found, Registry, Wanted } from "./registry.ts"

/** How a registry is reached. */
export interface HttpsOptions {
  /** `https://host/path`: the index is at `/path/index.json`. */
  readonly url: string
  /** Sent as bearer token; never shown in a message, and never sent to another host: redirects are not followed. */
  readonly token?: string
  /** CA certificates, PEM, that replace the host's. */
  readonly ca?: string
}

/** The normalised URL, with a trailing slash; undefined when it is not valid for a registry. */
export const registryUrl = (text: string): URL | undefined => {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.protocol !== "https:" || url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    return undefined
  if (!url.pathname.endsWith("/")) url.pathname += "/"
  return url
}

const refusal = ({ doing, path }: Wanted, status: number) => {
  if (status === 401 || status === 403)
    return fault(doing, "unauthenticated", `the registry refused ${path} (${status})`, "Set the registry's token.")
  if (status === 404 || status === 410) return fault(doing, "not-found", `the registry has no ${path} (${status})`)
  if (status >= 300 && status < 400)
    return fault(doing, "unavailable", `the registry redirects ${path} (${status})`, "Use the final URL.")
  return fault(doing, "unreachable", `the registry answered ${status} for ${path}`)
}

const bodyOf = async ({ doing, path, most }: Wanted, response: IncomingMessage): Promise<Buffer> => {
  const tooLarge = () => fault(doing, "too-large", `${path} is larger than ${most} bytes`)
  if (Number(response.headers["content-length"] ?? 0) > most) throw tooLarge()
  if ((response.headers["content-encoding"] ?? "identity") !== "identity")
    throw fault(doing, "broken", `the registry sent ${path} in an encoding that was not requested`)
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > most) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const answerOf = (url: URL, options: HttpsOptions, wanted: Wanted, signal: AbortSignal): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const headers = {
      accept: "*/*",
      "user-agent": "rangewright",
      ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
      ...(wanted.etag === undefined ? {} : { "if-none-match": wanted.etag }),
    }
    const ca = options.ca === undefined ? {} : { ca: options.ca }
    request(new URL(wanted.path, url), { headers, signal, agent: false, ...ca }, resolve)
      .on("error", reject)
      .end()
  })

const read = async (url: URL, options: HttpsOptions, wanted: Wanted, signal: AbortSignal): Promise<Found | "unchanged"> => {
  const response = await answerOf(url, options, wanted, signal)
  try {
    const { statusCode = 0, headers } = response
    if (statusCode === 304) return "unchanged"
    if (statusCode !== 200) throw refusal(wanted, statusCode)
    return { bytes: await bodyOf(wanted, response), etag: headers.etag }
  } finally {
    response.destroy()
  }
}

/** A registry over HTTPS. One time limit applies to a whole response, however slowly it arrives. */
export const httpsRegistry = (url: URL, options: HttpsOptions): Registry => ({
  name: url.href,
  place: url.href,
  read: async (wanted, signal) => {
    const deadline = AbortSignal.timeout(wanted.timeoutSeconds * 1000)
    try {
      return await read(url, options, wanted, AbortSignal.any([signal, deadline]))
    } catch (cause) {
      if (deadline.aborted) throw fault(wanted.doing, "timeout", `the registry took longer than ${wanted.timeoutSeconds} s`)
      if (!(cause instanceof Error) || "facts" in cause) throw cause
      const { code } = cause as NodeJS.ErrnoException
      throw fault(wanted.doing, "unreachable", `the registry cannot be reached (${code ?? cause.message.slice(0, 200)})`)
    }
  },
})
