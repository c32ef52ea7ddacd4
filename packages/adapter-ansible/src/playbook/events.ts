/** The events printed by the callback `ansible.posix.jsonl`, one JSON object per line. */

type Fields = Readonly<Record<string, unknown>>

/** Outcome of a task on a host; `changed` means that anything was changed, unlike `ok`. */
export type Outcome = "ok" | "changed" | "skipped" | "failed" | "unreachable"

/** Tasks of one host, counted (`PLAY RECAP`). */
export interface Recap {
  readonly ok: number
  readonly changed: number
  readonly unreachable: number
  readonly failures: number
  readonly skipped: number
  readonly rescued: number
  readonly ignored: number
}

export type PlaybookEvent =
  | { readonly type: "play"; readonly name: string }
  | { readonly type: "task"; readonly name: string; readonly handler: boolean }
  | {
      readonly type: "result"
      readonly task: string
      readonly host: string
      readonly outcome: Outcome
      /** Undefined when the callback does not report it. */
      readonly seconds: number | undefined
      readonly result: Fields
    }
  | { readonly type: "recap"; readonly hosts: ReadonlyMap<string, Recap> }

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}
const text = (value: unknown): string => (typeof value === "string" ? value : "")
const count = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) ? value : 0)

const parsed = (line: string): Fields | undefined => {
  if (!line.startsWith("{")) return undefined
  try {
    return fieldsOf(JSON.parse(line))
  } catch {
    return undefined
  }
}

const outcomeOf = (event: string, result: Fields): Outcome | undefined => {
  switch (event) {
    case "v2_runner_on_ok":
      return result["changed"] === true ? "changed" : "ok"
    case "v2_runner_on_failed":
      return "failed"
    case "v2_runner_on_skipped":
      return "skipped"
    case "v2_runner_on_unreachable":
      return "unreachable"
    default:
      return undefined
  }
}

const secondsOf = (task: Fields): number | undefined => {
  const { start, end } = fieldsOf(task["duration"])
  const seconds = (Date.parse(text(end)) - Date.parse(text(start))) / 1000
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

const recapOf = (stats: Fields): Recap => ({
  ok: count(stats["ok"]),
  changed: count(stats["changed"]),
  unreachable: count(stats["unreachable"]),
  failures: count(stats["failures"]),
  skipped: count(stats["skipped"]),
  rescued: count(stats["rescued"]),
  ignored: count(stats["ignored"]),
})

/** The events of one printed line; undefined when it is not an event, but a message of the tool or a plugin. */
export const eventsOf = (line: string): readonly PlaybookEvent[] | undefined => {
  const fields = parsed(line)
  const event = fields?.["_event"]
  if (fields === undefined || typeof event !== "string") return undefined
  const task = fieldsOf(fields["task"])
  if (event === "v2_playbook_on_play_start") return [{ type: "play", name: text(fieldsOf(fields["play"])["name"]) }]
  if (event === "v2_playbook_on_task_start" || event === "v2_playbook_on_handler_task_start")
    return [{ type: "task", name: text(task["name"]), handler: event.includes("handler") }]
  if (event === "v2_playbook_on_stats")
    return [
      {
        type: "recap",
        hosts: new Map(Object.entries(fieldsOf(fields["stats"])).map(([host, stats]) => [host, recapOf(fieldsOf(stats))])),
      },
    ]
  return Object.entries(fieldsOf(fields["hosts"])).flatMap(([host, value]): readonly PlaybookEvent[] => {
    const result = fieldsOf(value)
    const outcome = outcomeOf(event, result)
    return outcome === undefined
      ? []
      : [{ type: "result", task: text(task["name"]), host, outcome, seconds: secondsOf(task), result }]
  })
}
