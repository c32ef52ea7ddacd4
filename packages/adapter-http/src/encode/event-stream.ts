import type { EventReader, ServerSentEvent, ServerSentEvents, WireSchema } from "@rangewright/application"
import type { Fault } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import type { ServerResponse } from "node:http"
import { exitOf, type OpenStreams } from "../exit-of.ts"
import type { HttpOptions } from "../options.ts"
import { defectProblem, faultOf, type Problem, problemOf } from "../problem.ts"
import { backpressuredWriter } from "./backpressured-writer.ts"

/** Milliseconds after which a disconnected client reconnects. */
const retry = 2000

/** One field per line: a line break would start another field. */
const line = (text: string): string => text.replace(/[\r\n\0]/gu, " ")

const failureText = (problem: Problem): string => `event: failure\ndata: ${problem.body}\n\n`

type Writer = ReturnType<typeof backpressuredWriter>

/** Writes comments to open streams: one timer for all, since one for each costs memory. */
const keptOpen = (every: number) => {
  const streams = new Map<ServerResponse, Writer>()
  let timer: NodeJS.Timeout | undefined
  const beat = () => {
    for (const [response, write] of streams) if (!response.writableNeedDrain) void write(": still here\n\n")
  }
  return {
    add: (response: ServerResponse, write: Writer): void => {
      streams.set(response, write)
      timer ??= setInterval(beat, every)
    },
    remove: (response: ServerResponse): void => {
      streams.delete(response)
      if (streams.size > 0) return
      clearInterval(timer)
      timer = undefined
    },
  }
}

/**
 * Returns how an operation's events are written: as server-sent events until they end, the reader disconnects, or the service stops (a
 * comment says so). A failure in the middle is sent as the event `failure` with the problem as data. Headers must be set before. Resolves
 * when the response has ended; returns the cause when it ended with a defect.
 */
export const eventSender = (
  schema: WireSchema,
  { run, eventStreams }: Pick<HttpOptions, "run" | "eventStreams">,
  open: OpenStreams,
): ((response: ServerResponse, events: ServerSentEvents, requestId: string) => Promise<Exit.Exit<void, Fault>>) => {
  const encode = Schema.encodeUnknownSync(schema)
  const kept = keptOpen(eventStreams.heartbeat)
  // one value may be sent to many readers
  const rendered = new WeakMap<WeakKey, string>()
  const dataText = (data: object): string => {
    const known = rendered.get(data)
    if (known !== undefined) return known
    const text = JSON.stringify(encode(data))
    rendered.set(data, text)
    return text
  }
  const textOf = ({ id, event, data }: ServerSentEvent): string =>
    `id: ${line(id)}\nevent: ${line(event)}\ndata: ${dataText(data)}\n\n`

  const readerOf = (response: ServerResponse, write: Writer): EventReader => {
    let room = Promise.resolve()
    return {
      send: (events) => void (room = write(events.map(textOf).join(""))),
      hasRoom: () => !response.writableNeedDrain,
      room: Effect.promise(() => room),
    }
  }

  return async (response, events, requestId) => {
    const write = backpressuredWriter(response, eventStreams.patience)
    void write(`retry: ${retry}\n\n`)
    kept.add(response, write)
    const fiber = run(events(readerOf(response, write)))
    let stopped = false
    const stop = () => {
      stopped = true
      fiber.interruptUnsafe()
    }
    open.add(stop)
    response.once("close", stop)
    const exit = await exitOf(fiber)
    kept.remove(response)
    open.remove(stop)
    if (Exit.isFailure(exit) && !stopped) {
      const fault = faultOf(exit.cause)
      const problem = fault === undefined ? defectProblem("api", requestId) : problemOf(fault, "api", requestId)
      await write(failureText(problem))
    }
    response.end(stopped ? ": the service is stopping; come back with Last-Event-ID\n\n" : ": end\n\n")
    return exit
  }
}
