import { ask } from "./client.ts"

export interface ServerEvent {
  readonly id: string
  readonly event: string
  readonly data: unknown
}

/** Takes the bytes of an event stream as they come, and gives whole events. */
export const eventReader = (): ((text: string) => readonly ServerEvent[]) => {
  let rest = ""
  return (text) => {
    const blocks = `${rest}${text}`.split("\n\n")
    rest = blocks.pop() ?? ""
    return blocks.flatMap((block) => {
      let id = ""
      let event = "message"
      let data = ""
      for (const line of block.split("\n")) {
        const colon = line.indexOf(":")
        if (colon <= 0) continue
        const value = line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
        const name = line.slice(0, colon)
        if (name === "id") id = value
        else if (name === "event") event = value
        else if (name === "data") data += data === "" ? value : `\n${value}`
      }
      if (data === "") return []
      try {
        return [{ id, event, data: JSON.parse(data) as unknown }]
      } catch {
        return []
      }
    })
  }
}

/** Reads a stream to its end. Events come in batches, as the network gives them. */
export const follow = async (
  address: string,
  after: string,
  signal: AbortSignal,
  onEvents: (events: readonly ServerEvent[]) => void,
  onOpen: () => void = () => undefined,
): Promise<void> => {
  const headers = { Accept: "text/event-stream", ...(after === "" ? {} : { "Last-Event-ID": after }) }
  const response = await ask("GET", address, { headers, signal })
  onOpen()
  const take = eventReader()
  const reader = (response.body ?? new ReadableStream<Uint8Array<ArrayBuffer>>()).pipeThrough(new TextDecoderStream()).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const events = take(value)
    if (events.length > 0) onEvents(events)
  }
}
