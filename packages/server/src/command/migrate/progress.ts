import { movedMachine } from "@rangewright/application"
import {
  type JournalEntry,
  openFold,
  progressOf,
  remainingText,
  type RunState,
  type StepState,
  waitingFor,
} from "@rangewright/domain"
import { bar, clock, type Screen } from "../../demo/progress.ts"

/** Ranges shown at once: as many as can move at a time, and few enough for any screen. */
const rangesShown = 8

interface RangeRow {
  readonly total: number
  readonly done: number
  /** The machines that are moving now. */
  readonly moving: readonly string[]
}

const isDone = ({ phase }: StepState): boolean => phase === "settled" || phase === "failed" || phase === "skipped"
const isRunning = ({ phase }: StepState): boolean => phase === "started" || phase === "dispatched"

type Moved = ReturnType<typeof movedMachine>

/** The progress of each range; the service's own machines form a range of their own here. */
const rangeRows = (state: RunState, movedBy: (own: StepState) => Moved): ReadonlyMap<string, RangeRow> => {
  const rows = new Map<string, RangeRow>()
  for (const own of state.steps.values()) {
    const machine = movedBy(own)
    if (machine === undefined) continue
    const { total, done, moving } = rows.get(machine.range) ?? { total: 0, done: 0, moving: [] }
    rows.set(machine.range, {
      total: total + 1,
      done: done + (isDone(own) ? 1 : 0),
      moving: isRunning(own) ? [...moving, machine.name] : moving,
    })
  }
  return rows
}

export interface MigrationView {
  readonly entry: (entry: JournalEntry) => void
  /** Draws the final state and ends the view. */
  readonly end: () => void
}

/** Shows the progress of a migration's run: redrawn on a terminal, otherwise one line for each step that ends. */
export const migrationView = (screen: Screen, now: () => number): MigrationView => {
  const fold = openFold()
  let started: number | undefined
  let drawn = 0
  let lastDraw = 0
  const known = new Map<string, Moved>()
  const movedBy = ({ step }: StepState): Moved => {
    if (!known.has(step.key)) known.set(step.key, movedMachine(step))
    return known.get(step.key)
  }
  const line = (text: string): string => (text.length > screen.columns ? `${text.slice(0, screen.columns - 1)}~` : text)
  const elapsed = (): string => clock(now() - (started ?? now()))

  const summary = (state: RunState): string => {
    const progress = progressOf(state, new Date(now()))
    const { done, total } = progress
    const remaining = remainingText(progress, state)
    const left = remaining === undefined ? "" : `, ${remaining}`
    const doing = [...state.steps.values()].find((own) => isRunning(own) && movedBy(own) === undefined)?.step.title
    const waiting = waitingFor(state)
    const what = waiting === undefined ? (doing ?? "") : `waiting: ${waiting}`
    return `  ${elapsed()}  ${done} of ${total} steps${left}${what === "" ? "" : `  ${what}`}`
  }
  const rowText = ([name, { total, done, moving }]: readonly [string, RangeRow], width: number): string =>
    `  ${name.padEnd(width)} ${bar(done, total, 16)} ${String(done).padStart(3)}/${String(total).padEnd(3)} ${moving.join(", ")}`

  const draw = (force: boolean): void => {
    const state = fold.state()
    if (!screen.live || state.plan === undefined || (!force && now() - lastDraw < 80)) return
    lastDraw = now()
    const all = [...rangeRows(state, movedBy)]
    const begun = all
      .filter(([, { done, total, moving }]) => moving.length > 0 || (done > 0 && done < total))
      .slice(0, rangesShown)
    const width = Math.max(0, ...begun.map(([name]) => name.length))
    const ready = all.filter(([, { done, total }]) => done === total).length
    const text = [...begun.map((row) => rowText(row, width)), `  ${ready} of ${all.length} ranges moved`, summary(state)].map(
      line,
    )
    const over = drawn > 0 ? `\u001b[${drawn}A\u001b[J` : ""
    screen.write(over + text.map((each) => `${each}\n`).join(""))
    drawn = text.length
  }

  const say = (key: string, sign: string, more = ""): void => {
    const state = fold.state()
    const own = state.steps.get(key)
    if (screen.live || own === undefined) return
    const range = movedBy(own)?.range
    const row = range === undefined ? undefined : rangeRows(state, movedBy).get(range)
    const share = row === undefined ? "" : ` (${range}: ${row.done} of ${row.total})`
    const { done, total } = progressOf(state, new Date(now()))
    screen.write(`  ${elapsed()} ${String(done).padStart(4)}/${total} ${sign.padEnd(6)} ${own.step.title}${share}${more}\n`)
  }

  return {
    entry: (entry) => {
      started ??= entry.at.getTime()
      const waited = waitingFor(fold.state()) !== undefined
      fold.push(entry)
      const { event } = entry
      if (event.type === "Planned" && !screen.live) screen.write(`${summary(fold.state())}\n`)
      if (event.type === "StepSettled") say(event.key, "done")
      if (event.type === "StepFailed" && event.final) say(event.key, "FAILED", `: ${event.failure.message}`)
      if (event.type === "Waiting" && !waited && !screen.live) screen.write(`  ${elapsed()} waiting: ${event.reason}\n`)
      draw(false)
    },
    end: () => draw(true),
  }
}
