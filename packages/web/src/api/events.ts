import { ask } from "./client.ts"

export interface ServerEvent {
  readonly id: string
  readonly event: string
  readonly data: unknown
}

/** One event of a stream; undefined when it has no data, or data that cannot be parsed. */
const eventOf = (block: string): ServerEvent | undefined => {
  let id = ""
  let event = "message"
  let data: string | undefined
  for (let from = 0, end = 0; end < block.length; from = end + 1) {
    end = block.indexOf("\n", from)
    if (end < 0) end = block.length
    const value = (name: string): string => {
      const at = from + name.length
      return block.slice(block[at] === " " ? at + 1 : at, end)
    }
    if (block.startsWith("id:", from)) id = value("id:")
    else if (block.startsWith("event:", from)) event = value("event:")
    else if (block.startsWith("data:", from)) data = data === undefined ? value("data:") : `${data}\n${value("data:")}`
  }
  if (data === undefined) return undefined
  try {
    return { id, event, data: JSON.parse(data) as unknown }
  } catch {
    return undefined
  }
}

/** Takes an event stream's text as it arrives, and returns complete events. */
export const eventReader = (): ((text: string) => readonly ServerEvent[]) => {
  let rest = ""
  return (text) => {
    const blocks = `${rest}${text}`.split("\n\n")
    rest = blocks.pop() ?? ""
    return blocks.map(eventOf).filter((event) => event !== undefined)
  }
}

/** Milliseconds after which a silent stream counts as broken: the service sends something every 15 seconds. */
const longestSilence = 45_000

/**
 * Reads a stream to its end. Events are passed on in batches, as they arrive. Fails when nothing arrives for long: the browser itself
 * notices only after many minutes that the service, or the way to it, is gone.
 */
export const follow = async (
  address: string,
  after: string,
  signal: AbortSignal,
  onEvents: (events: readonly ServerEvent[]) => void,
  onOpen: () => void = () => undefined,
): Promise<void> => {
  const silence = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const heard = (): void => {
    clearTimeout(timer)
    timer = setTimeout(() => silence.abort(), longestSilence)
  }
  heard()
  try {
    const headers = { Accept: "text/event-stream", ...(after === "" ? {} : { "Last-Event-ID": after }) }
    const response = await ask("GET", address, { headers, signal: AbortSignal.any([signal, silence.signal]) })
    onOpen()
    const take = eventReader()
    const reader = (response.body ?? new ReadableStream<Uint8Array<ArrayBuffer>>())
      .pipeThrough(new TextDecoderStream())
      .getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      heard()
      const events = take(value)
      if (events.length > 0) onEvents(events)
    }
  } finally {
    clearTimeout(timer)
  }
}
