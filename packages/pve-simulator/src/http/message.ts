import type { Upload } from "./upload.ts"

/** A request as it reaches the API: method and path (with its query), headers with lower-case names, and the body as it came. */
export interface SimRequest {
  readonly method: string
  /** Begins with `/api2/json`, `/api2/extjs` or `/simulator`; may end in `?query`. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string | Uint8Array
  /** Reads the body where it is a form with a file: called once the caller may upload one. */
  readonly upload?: () => Promise<Upload>
}

/** The answer; `body` is the exact text, `reason` the phrase of the status line. */
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

/** The headers that stand on every answer. Answers of 400 and above close the connection. */
const standardHeaders = (now: number, status: number): Record<string, string> => {
  const date = new Date(now).toUTCString()
  return {
    "cache-control": "max-age=0",
    connection: status >= 400 ? "close" : "Keep-Alive",
    date,
    expires: date,
    pragma: "no-cache",
    server: "pve-api-daemon/3.0",
  }
}

/** An answer without a JSON body: a text, or nothing. */
export const textResponse = (now: number, status: number, reason: string, body = ""): SimResponse => ({
  status,
  reason: reason === "" ? (phrases[status] ?? "Error") : reason,
  headers: { ...standardHeaders(now, status), ...(body === "" ? {} : { "content-type": "text/plain" }) },
  body,
})

/** An answer with a JSON body; an empty reason stands for the usual phrase of the status. */
export const jsonResponse = (now: number, status: number, reason: string, value: unknown): SimResponse => ({
  status,
  reason: reason === "" ? (phrases[status] ?? "Error") : reason,
  headers: { ...standardHeaders(now, status), "content-type": "application/json;charset=UTF-8" },
  body: JSON.stringify(value),
})
