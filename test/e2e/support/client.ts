/** A journal entry as the event stream sends it. */
export interface StreamEvent {
  readonly id: number
  readonly type: string
  readonly data: { readonly seq: number; readonly type: string; readonly key?: string; readonly [member: string]: unknown }
}

export interface Answer<A> {
  readonly status: number
  readonly body: A
}

/** The problem body of a refusal. */
export interface Problem {
  readonly error: string
  readonly hint?: string
}

/** The API as any client uses it, over HTTP. */
export interface ApiClient {
  /** The answer whatever its status. */
  readonly ask: <A>(method: string, path: string, body?: unknown) => Promise<Answer<A>>
  /** The body of a success; throws on anything else. */
  readonly get: <A>(path: string) => Promise<A>
  readonly send: <A>(method: string, path: string, body?: unknown) => Promise<A>
  readonly upload: (path: string, text: string) => Promise<Answer<Problem>>
  /** The run's events after the id, until the stream ends or breaks. */
  readonly events: (runId: string, after?: number) => AsyncGenerator<StreamEvent>
}

const parseEvent = (block: string): StreamEvent | undefined => {
  const fields = new Map<string, string>()
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":")
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).trimStart())
  }
  const data = fields.get("data")
  return data === undefined
    ? undefined
    : { id: Number(fields.get("id")), type: fields.get("event") ?? "", data: JSON.parse(data) as StreamEvent["data"] }
}

/** `unreachable` explains why a service could not be reached. */
export const apiClient = (base: string, key: string, unreachable: () => string = () => ""): ApiClient => {
  const json = { Accept: "application/json" }
  const call = (method: string, path: string, init: RequestInit = {}) =>
    fetch(`${base}/api/v2${path}`, { ...init, method, headers: { ...init.headers, "X-API-KEY": key } }).catch(
      (cause: unknown) => {
        throw new Error(`${method} ${path}: the service cannot be reached. ${unreachable()}`, { cause })
      },
    )
  const read = async <A>(response: Response): Promise<Answer<A>> => {
    const text = await response.text()
    const isJson = response.headers.get("content-type")?.includes("json") === true
    return { status: response.status, body: (isJson ? JSON.parse(text) : text) as A }
  }
  const ask: ApiClient["ask"] = async (method, path, body) =>
    read(
      await call(
        method,
        path,
        body === undefined
          ? { headers: json }
          : { body: JSON.stringify(body), headers: { ...json, "Content-Type": "application/json" } },
      ),
    )
  const send: ApiClient["send"] = async <A>(method: string, path: string, body?: unknown) => {
    const answer = await ask<A>(method, path, body)
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  return {
    ask,
    send,
    get: (path) => send("GET", path),
    upload: async (path, text) => {
      const form = new FormData()
      form.set("file", new File([text], "range.yml"))
      return read(await call("PUT", path, { body: form }))
    },
    events: async function* (runId, after = 0) {
      let response: Response
      try {
        response = await call("GET", `/runs/${runId}/events`, { headers: { "Last-Event-ID": String(after) } })
      } catch {
        return // the service is gone: missing events are requested again, after the last id that was
      }
      if (!response.ok) throw new Error(`events of run ${runId}: ${response.status} ${await response.text()}`)
      let rest = ""
      for (const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader(); ;) {
        const chunk = await reader.read().catch(() => undefined)
        if (chunk?.value === undefined) return
        const blocks = `${rest}${chunk.value}`.split("\n\n")
        rest = blocks.pop() ?? ""
        for (const block of blocks) {
          const event = parseEvent(block)
          if (event !== undefined) yield event
        }
      }
    },
  }
}
