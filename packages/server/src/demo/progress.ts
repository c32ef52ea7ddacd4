import type { JournalEvent } from "./client.ts"

interface PlannedStep {
  readonly key: string
  readonly title: string
  readonly machine?: string
}

interface Row {
  readonly name: string
  total: number
  done: number
  failed: number
  readonly running: string[]
}

/** Where to write, and whether it is a terminal that can be redrawn. */
export interface Screen {
  readonly live: boolean
  readonly columns: number
  readonly write: (text: string) => void
}

export interface ProgressView {
  readonly event: (event: JournalEvent) => void
  /** Draws the final state and ends the view. */
  readonly end: () => void
}

const common = "the range"
export const bar = (done: number, total: number, width: number): string => {
  const full = total === 0 ? width : Math.round((done / total) * width)
  return `${"#".repeat(full)}${".".repeat(width - full)}`
}
export const clock = (ms: number): string => {
  const s = Math.floor(ms / 1000)
  return `${String(Math.floor(s / 60)).padStart(2, "0")}:${String(s % 60).padStart(2, "0")}`
}

/** Shows a run's events: on a terminal as a table that is redrawn, with a line for each machine; otherwise as plain lines. */
export const progressView = (screen: Screen, now: () => number = Date.now): ProgressView => {
  const started = now()
  const steps = new Map<string, PlannedStep>()
  const rows = new Map<string, Row>()
  let drawn = 0
  let lastDraw = 0

  const rowOf = (step: PlannedStep | undefined): Row | undefined => rows.get(step?.machine ?? common)
  const line = (text: string): string => (text.length > screen.columns ? `${text.slice(0, screen.columns - 1)}~` : text)
  const rowText = (row: Row, width: number): string => {
    const state = row.failed > 0 ? "FAILED" : row.done === row.total ? "done" : (row.running[0] ?? "waiting")
    return line(
      `  ${row.name.padEnd(width)} ${bar(row.done, row.total, 16)} ${String(row.done).padStart(2)}/${String(row.total).padEnd(2)} ${state}`,
    )
  }
  const draw = (force: boolean) => {
    if (!screen.live || rows.size === 0 || (!force && now() - lastDraw < 80)) return
    lastDraw = now()
    const width = Math.max(...[...rows.keys()].map((k) => k.length))
    const all = [...rows.values()]
    const done = all.reduce((n, r) => n + r.done, 0)
    const total = all.reduce((n, r) => n + r.total, 0)
    const text = [...all.map((r) => rowText(r, width)), line(`  ${clock(now() - started)}  ${done} of ${total} steps`)]
    screen.write(`${drawn > 0 ? `\u001b[${drawn}A` : ""}${text.map((t) => `\u001b[2K${t}\n`).join("")}`)
    drawn = text.length
  }
  const say = (mark: string, step: PlannedStep | undefined, more = "") => {
    if (!screen.live && step !== undefined) screen.write(`  ${clock(now() - started)} ${mark.padEnd(6)} ${step.title}${more}\n`)
  }

  const planned = (plan: { readonly steps: readonly PlannedStep[] }) => {
    steps.clear()
    rows.clear()
    for (const step of plan.steps) {
      steps.set(step.key, step)
      const name = step.machine ?? common
      const row = rows.get(name) ?? { name, total: 0, done: 0, failed: 0, running: [] }
      row.total += 1
      rows.set(name, row)
    }
  }
  const left = (row: Row | undefined, step: PlannedStep) => {
    const at = row?.running.indexOf(step.title) ?? -1
    if (at >= 0) row?.running.splice(at, 1)
  }

  return {
    event: (event) => {
      const step = typeof event["key"] === "string" ? steps.get(event["key"]) : undefined
      const row = rowOf(step)
      switch (event.type) {
        case "Planned":
          planned(event["plan"] as { readonly steps: readonly PlannedStep[] })
          break
        case "StepStarted":
          if (step !== undefined && row !== undefined && !row.running.includes(step.title)) row.running.push(step.title)
          say("start", step)
          break
        case "StepSettled":
          if (step !== undefined && row !== undefined) {
            row.done += 1
            left(row, step)
          }
          say("done", step)
          break
        case "StepFailed":
          if (event["final"] === true && step !== undefined && row !== undefined) {
            row.failed += 1
            left(row, step)
          }
          say("FAILED", step, `: ${String((event["failure"] as { message?: string } | undefined)?.message ?? "")}`)
          break
        case "Waiting":
          screen.write(`  waiting: ${String(event["reason"])}\n`)
          drawn = 0
          break
        default:
      }
      draw(false)
    },
    end: () => draw(true),
  }
}
