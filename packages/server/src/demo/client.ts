/** The response was not a success. */
export class RequestFailed extends Error {}

export interface JournalEvent {
  readonly seq: number
  readonly at: string
  readonly type: string
  readonly [key: string]: unknown
}

/** The API as a client uses it: everything the demo does can be done with curl. */
export interface Client {
  readonly send: <A>(method: string, path: string, body?: unknown) => Promise<A>
  readonly upload: <A>(path: string, filename: string, text: string) => Promise<A>
  /** Follows a server-sent event stream to its end. */
  readonly follow: (path: string, onEvent: (event: JournalEvent) => void) => Promise<void>
}

const failure = async (method: string, path: string, response: Response): Promise<RequestFailed> => {
  const text = await response.text()
  let said = text
  try {
    const body = JSON.parse(text) as { error?: string; hint?: string }
    said = [body.error, body.hint].filter((t) => t !== undefined).join(" ")
  } catch {
    // not JSON: shown as it is
  }
  return new RequestFailed(`${method} ${path}: ${response.status} ${said}`)
}

export const makeClient = (base: string, apiKey: string): Client => {
  const call = async (method: string, path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(`${base}${path}`, { ...init, method, headers: { ...init.headers, "X-API-KEY": apiKey } })
    if (!response.ok) throw await failure(method, path, response)
    return response
  }
  return {
    send: async <A>(method: string, path: string, body?: unknown) => {
      const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } }
      return (await (await call(method, path, init)).json()) as A
    },
    upload: async <A>(path: string, filename: string, text: string) => {
      const form = new FormData()
      form.set("file", new File([text], filename))
      return (await (await call("PUT", path, { body: form })).json()) as A
    },
    follow: async (path, onEvent) => {
      const response = await call("GET", path)
      let rest = ""
      for await (const chunk of (response.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
        const parts = `${rest}${chunk}`.split("\n\n")
        rest = parts.pop() ?? ""
        for (const part of parts) {
          const data = part
            .split("\n")
            .filter((line) => line.startsWith("data:"))
            .map((line) => line.slice(5).trimStart())
            .join("\n")
          if (data !== "") onEvent(JSON.parse(data) as JournalEvent)
        }
      }
    },
  }
}
