import { InvalidInput, isRangeId, isRunId } from "@rangewright/domain"
import * as Effect from "effect/Effect"

/** What an event is about. */
export interface About {
  readonly kind: "range" | "machine" | "run" | "notice"
  readonly rangeId: string | undefined
  readonly runId: string | undefined
}

/** Whether a reader wants an event. */
export type Wanted = (about: About) => boolean

const most = 64
const kinds: Readonly<Record<string, About["kind"]>> = { ranges: "range", machines: "machine", runs: "run", notices: "notice" }

const wantedBy = (topic: string): Wanted | undefined => {
  const kind = Object.hasOwn(kinds, topic) ? kinds[topic] : undefined
  if (kind !== undefined) return (about) => about.kind === kind
  const at = topic.indexOf(":")
  const [what, id] = [topic.slice(0, at), topic.slice(at + 1)]
  if (what === "range" && isRangeId(id)) return ({ rangeId }) => rangeId === id
  if (what === "run" && isRunId(id)) return ({ runId }) => runId === id
  return undefined
}

/** Parses `?topics=`; absent: everything is wanted. */
export const wantedTopics = (text: string | undefined): Effect.Effect<Wanted, InvalidInput> => {
  if (text === undefined) return Effect.succeed(() => true)
  // one more than the limit is enough to detect that there are too many
  const topics = text.split(",", most + 1)
  const all = topics.map(wantedBy)
  const wrong = all.indexOf(undefined)
  if (topics.length > most || wrong >= 0)
    return Effect.fail(
      new InvalidInput({
        what:
          topics.length > most
            ? `Cannot follow more than ${most} topics`
            : `Cannot follow ${JSON.stringify((topics[wrong] ?? "").slice(0, 80))}: the topic does not exist`,
        hint: "topics are ranges, machines, runs, notices, range:<rangeID> and run:<runID>, separated by commas.",
      }),
    )
  return Effect.succeed((about) => all.some((wanted) => wanted?.(about) ?? false))
}
