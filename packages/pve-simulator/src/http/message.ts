import type { Upload } from "./upload.ts"

/** A request as it reaches the API: method and path (with its query), headers with lower-case names, and the raw body. */
export interface SimRequest {
  readonly method: string
  /** Begins with `/api2/json`, `/api2/extjs` or `/simulator`; may end in `?query`. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string | Uint8Array
  /** Reads a body that is a form with a file; called only if the caller may upload. */
  readonly upload?: () => Promise<Upload>
}

/** The response; `body` is the exact text, `reason` the phrase in the status line. */
export interface SimResponse {
  readonly status: number
  readonly reason: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const phrases: Readonly<Record<number, string>> = {
  200: "OK",
  301: "Moved Permanently",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  500: "Internal Server Error",
  501: "Not Implemented",
  506: "Variant Also Negotiates",
}

let dated = { second: Number.NaN, text: "" }
/** The date as a header has it; formatting it takes longer than most answers. */
const dateOf = (now: number): string => {
  const second = Math.floor(now / 1000)
  if (dated.second !== second) dated = { second, text: new Date(now).toUTCString() }
  return dated.text
}

/** The headers of every response. Responses of 400 and above close the connection. */
const standardHeaders = (now: number, status: number): Record<string, string> => {
  const date = dateOf(now)
  return {
    "cache-control": "max-age=0",
    connection: status >= 400 ? "close" : "Keep-Alive",
    date,
    expires: date,
    pragma: "no-cache",
    server: "pve-api-daemon/3.0",
  }
}

/** A response without a JSON body: a text, or nothing. */
export const textResponse = (now: number, status: number, reason: string, body = ""): SimResponse => ({
  status,
  reason: reason === "" ? (phrases[status] ?? "Error") : reason,
  headers: { ...standardHeaders(now, status), ...(body === "" ? {} : { "content-type": "text/plain" }) },
  body,
})

/** A response with a JSON body; an empty reason means the usual phrase of the status. */
export const jsonResponse = (now: number, status: number, reason: string, value: unknown): SimResponse => ({
  status,
  reason: reason === "" ? (phrases[status] ?? "Error") : reason,
  headers: { ...standardHeaders(now, status), "content-type": "application/json;charset=UTF-8" },
  body: JSON.stringify(value),
})
