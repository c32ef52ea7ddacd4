import type { ServerSentEvent, WireSchema } from "@rangewright/application"
import type { Fault } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { ServerResponse } from "node:http"
import { exitOf, type OpenStreams } from "../exit-of.ts"
import type { HttpOptions } from "../options.ts"
import { defectProblem, faultOf, type Problem, problemOf } from "../problem.ts"
import { backpressuredWriter } from "./backpressured-writer.ts"

/** Milliseconds after which a disconnected client reconnects. */
const retry = 2000

/** One field per line: a line break would start another field. */
const line = (text: string): string => text.replace(/[\r\n\0]/gu, " ")

const eventText = (event: ServerSentEvent, encode: (data: unknown) => unknown): string =>
  `id: ${line(event.id)}\nevent: ${line(event.event)}\ndata: ${JSON.stringify(encode(event.data))}\n\n`

const failureText = (problem: Problem): string => `event: failure\ndata: ${problem.body}\n\n`

/**
 * Writes a stream as server-sent events until it ends, the reader disconnects, or the service stops (a comment says so). A failure in the
 * middle is sent as the event `failure` with the problem as data. Headers must be set before. Resolves when the response has ended; returns
 * the cause when it ended with a defect.
 */
export const sendEvents = async (
  response: ServerResponse,
  stream: Stream.Stream<ServerSentEvent, Fault>,
  schema: WireSchema,
  requestId: string,
  { run, eventStreams }: Pick<HttpOptions, "run" | "eventStreams">,
  open: OpenStreams,
): Promise<Exit.Exit<void, Fault>> => {
  const write = backpressuredWriter(response, eventStreams.patience)
  const encode = Schema.encodeUnknownSync(schema)
  const heartbeat = setInterval(() => response.writableNeedDrain || response.write(": still here\n\n"), eventStreams.heartbeat)
  response.write(`retry: ${retry}\n\n`)
  // events that arrive together are written together: a long stream starts with thousands of them
  const fiber = run(
    Stream.runForEachArray(stream, (events) =>
      Effect.promise(() => write(events.map((event) => eventText(event, encode)).join(""))),
    ),
  )
  let stopped = false
  const stop = () => {
    stopped = true
    fiber.interruptUnsafe()
  }
  open.add(stop)
  response.once("close", stop)
  const exit = await exitOf(fiber)
  clearInterval(heartbeat)
  open.remove(stop)
  if (Exit.isFailure(exit) && !stopped) {
    const fault = faultOf(exit.cause)
    await write(failureText(fault === undefined ? defectProblem("api", requestId) : problemOf(fault, "api", requestId)))
  }
  response.end(stopped ? ": the service is stopping; come back with Last-Event-ID\n\n" : ": end\n\n")
  return exit
}
