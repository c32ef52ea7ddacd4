import { foldRun, type JournalEntry, readRunEvent, type RunHead, type RunState, writeRunEvent } from "@rangewright/domain"

/** The journal of one run as some version wrote it, and the run's state then. */
export interface Golden {
  readonly head: RunHead
  readonly entries: readonly JournalEntry[]
  readonly state: object
}

const plain = ({ plan, steps, reallocated, waits, ...rest }: RunState) => ({
  ...rest,
  plan: plan?.steps.length,
  steps: [...steps.values()].map(({ step, ...where }) => ({ key: step.key, action: step.action, ...where })),
  reallocated: [...reallocated],
  waits: [...waits],
})

/** The state of the run after these entries, as data. */
export const stateOf = (entries: readonly JournalEntry[]): object => JSON.parse(JSON.stringify(plain(foldRun(entries)))) as object

/** The head, the state, and a line for each entry: its time, and the event as stored in the journal. */
export const writeGolden = ({ head, entries, state }: Golden): string =>
  [
    JSON.stringify(head),
    JSON.stringify(state),
    ...entries.map(({ at, event }) => `${at.getTime()} ${writeRunEvent(event)}`),
    "",
  ].join("\n")

export const readGolden = (text: string): Golden => {
  const [head = "", state = "", ...lines] = text.trimEnd().split("\n")
  const entries = lines.map((line, i): JournalEntry => {
    const space = line.indexOf(" ")
    const event = readRunEvent(line.slice(space + 1))
    if (typeof event === "string") throw new Error(`entry ${i + 1} cannot be read: ${line.slice(0, 200)}`)
    return { seq: i + 1, at: new Date(Number(line.slice(0, space))), event }
  })
  return { head: JSON.parse(head) as RunHead, entries, state: JSON.parse(state) as object }
}
