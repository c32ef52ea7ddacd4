import { bytesOf } from "@rangewright/host-tools"
import { ImageServers, type ServerBytes, type ServerFile, type ServerText } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { IncomingMessage } from "node:http"
import { idleMillis, type InternetOptions, timeoutOf } from "./options.ts"
import { ask, Unasked } from "./server-connection.ts"

const mostRedirects = 5
const mostText = 1024 * 1024

const checked = (text: string): URL => {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:"))
    throw new Unasked("only http and https URLs are supported")
  if (url.username !== "" || url.password !== "") throw new Unasked("its URL contains a login")
  return url
}

/** Follows redirects to the final answer. */
const follow = async (
  options: InternetOptions,
  text: string,
  method: "HEAD" | "GET",
  signal: AbortSignal,
): Promise<IncomingMessage> => {
  let url = checked(text)
  for (let hops = 0; hops <= mostRedirects; hops += 1) {
    const answer = await ask(options, url, { method, headers: { accept: "*/*" }, signal })
    const { statusCode: status = 0, headers } = answer
    if (![301, 302, 303, 307, 308].includes(status)) return answer
    answer.destroy()
    const next = checked(URL.parse(headers.location ?? "", url.href)?.href ?? "")
    if (url.protocol === "https:" && next.protocol !== "https:") throw new Unasked("its server redirects away from https")
    url = next
  }
  throw new Unasked(`its server redirects more than ${mostRedirects} times`)
}

const refusal = (status: number): Exclude<ServerFile, { readonly state: "there" }> =>
  status === 404 || status === 410
    ? { state: "gone", because: `its server says that there is no such file (status ${status})` }
    : { state: "unknown", because: `its server answers with status ${status}` }

const bytesIn = (answer: IncomingMessage): number | undefined => {
  const length = Number(answer.headers["content-length"] ?? Number.NaN)
  return Number.isSafeInteger(length) && length >= 0 ? length : undefined
}

const look = async (options: InternetOptions, url: string, signal: AbortSignal): Promise<ServerFile> => {
  let answer = await follow(options, url, "HEAD", signal)
  // servers that do not support HEAD are sent a GET, whose body is not read
  if (answer.statusCode === 405 || answer.statusCode === 501) {
    answer.destroy()
    answer = await follow(options, url, "GET", signal)
  }
  answer.destroy()
  const { statusCode: status = 0, headers } = answer
  return status === 200
    ? { state: "there", bytes: bytesIn(answer), lastModified: headers["last-modified"]?.slice(0, 60) }
    : refusal(status)
}

const read = async (options: InternetOptions, url: string, signal: AbortSignal): Promise<ServerText> => {
  const answer = await follow(options, url, "GET", signal)
  if (answer.statusCode !== 200) {
    answer.destroy()
    return refusal(answer.statusCode ?? 0)
  }
  const bytes = await bytesOf(answer, mostText)
  if (bytes === undefined) return { state: "unknown", because: `it is longer than ${mostText / 1024} KiB` }
  return { state: "there", text: bytes.toString("utf8") }
}

const fetchWith =
  (options: InternetOptions) =>
  async (url: string, most: number, take: (part: Uint8Array) => Promise<void>, signal: AbortSignal): Promise<ServerBytes> => {
    const late = new AbortController()
    let timer = setTimeout(() => late.abort(), 2 * timeoutOf(options))
    const answer = await follow(options, url, "GET", AbortSignal.any([signal, late.signal])).finally(() => clearTimeout(timer))
    const silence = idleMillis(options)
    const wait = () => {
      timer = setTimeout(() => answer.destroy(new Unasked(`its server sent nothing for ${silence / 1000} s`)), silence)
    }
    try {
      if (answer.statusCode !== 200) return refusal(answer.statusCode ?? 0)
      const tooLong = { state: "unknown", because: `it is longer than ${Math.floor(most / 1024 ** 2)} MiB` } as const
      const whole = bytesIn(answer)
      if (whole !== undefined && whole > most) return tooLong
      let bytes = 0
      wait()
      for await (const part of answer as AsyncIterable<Buffer>) {
        clearTimeout(timer)
        bytes += part.length
        if (bytes > most) return tooLong
        await take(part).catch((error: unknown) => {
          throw new Unasked(`it cannot be kept: ${error instanceof Error ? error.message : String(error)}`)
        })
        wait()
      }
      if (!answer.complete || (whole !== undefined && bytes !== whole)) throw new Unasked("its server ended it early")
      return { state: "there", bytes }
    } finally {
      clearTimeout(timer)
      answer.destroy()
    }
  }

const becauseOf = (cause: unknown): string => (cause instanceof Unasked ? cause.message : "its server closed the connection")

/** Queries public servers for images. */
export const imageServersLayer = (options: InternetOptions = {}): Layer.Layer<ImageServers> => {
  const fetching = fetchWith(options)
  const within = <A>(ask: (signal: AbortSignal) => Promise<A>) =>
    Effect.tryPromise({ try: ask, catch: becauseOf }).pipe(
      Effect.timeoutOrElse({
        duration: 2 * timeoutOf(options),
        orElse: () => Effect.fail(`its server did not answer within ${(2 * timeoutOf(options)) / 1000} s`),
      }),
      Effect.catch((because) => Effect.succeed({ state: "unknown" as const, because })),
    )
  return Layer.succeed(ImageServers, {
    look: (url) => within<ServerFile>((signal) => look(options, url, signal)),
    read: (url) => within<ServerText>((signal) => read(options, url, signal)),
    fetch: (url, most, take) =>
      Effect.tryPromise({ try: (signal) => fetching(url, most, take, signal), catch: becauseOf }).pipe(
        Effect.catch((because) => Effect.succeed({ state: "unknown" as const, because })),
      ),
  })
}
