import type { Failure, PlannedStep, RunEvent } from "@rangewright/application/wire"
import { signal } from "@preact/signals"
import { throttled } from "../parts/throttled.ts"
import { kindText } from "./words.ts"
import { textOf } from "./ansi.ts"

export type LineKind = "output" | "step" | "error" | "note" | "end"

/** The lines of a run's log as they arrive. Stored in columns: there may be hundreds of thousands. */
export class Log {
  readonly text: string[] = []
  readonly kinds: LineKind[] = []
  readonly seqs: number[] = []
  readonly times: string[] = []
  readonly errors: number[] = []
  /** Increases when lines are added, so that views update. */
  readonly version = signal(0)
  readonly #tell = throttled(() => (this.version.value += 1))
  readonly #titles = new Map<string, string>()
  #last = ""
  /** Number of the last processed event. */
  seq = 0

  get length(): number {
    return this.text.length
  }

  #add(kind: LineKind, seq: number, at: string, text: string): void {
    const lines = text.split("\n")
    if (lines.length > 1 && lines.at(-1) === "") lines.pop()
    for (const line of lines) {
      const shown = kind === "output" && looksFailed(line) ? "error" : kind
      if (shown === "error") this.errors.push(this.text.length)
      this.text.push(line.endsWith("\r") ? line.slice(0, -1) : line)
      this.kinds.push(shown)
      this.seqs.push(seq)
      this.times.push(at)
    }
  }

  #title(key: string): string {
    return this.#titles.get(key) ?? key
  }

  #enter(key: string, seq: number, at: string): void {
    if (this.#last === key) return
    this.#last = key
    this.#add("step", seq, at, this.#title(key))
  }

  take(events: readonly RunEvent[]): void {
    for (const event of events) {
      // a reopened stream may repeat earlier events
      if (event.seq <= this.seq) continue
      this.seq = event.seq
      this.#one(event)
    }
    this.#tell()
  }

  #one(event: RunEvent): void {
    const { seq, at } = event
    switch (event.type) {
      case "Planned":
        this.#plan(event.plan.steps)
        for (const note of [kindText.planned(event.plan.steps.length), ...event.plan.notes]) this.#add("note", seq, at, note)
        return
      case "StepStarted":
        if (event.attempt > 1) this.#add("note", seq, at, kindText.attempt(this.#title(event.key), event.attempt))
        return
      case "StepSettled":
        this.#add("note", seq, at, `${this.#title(event.key)}: ${kindText.done}`)
        for (const warning of event.facts.warnings ?? []) this.#add("note", seq, at, warning)
        this.#last = ""
        return
      case "StepFailed":
        this.#failed(event.key, event.failure, event.final, seq, at)
        return
      case "StepSkipped":
        this.#add("note", seq, at, `${this.#title(event.key)}: ${kindText.skipped(event.because)}`)
        return
      case "Output":
        this.#enter(event.key, seq, at)
        this.#add("output", seq, at, event.text)
        return
      case "Reallocated":
        this.#add("note", seq, at, kindText.moved(event.machine, event.from, event.to))
        return
      case "Waiting":
        this.#add("note", seq, at, kindText.waiting(event.reason))
        return
      case "Continued":
        this.#add("note", seq, at, kindText.continued(event.reason))
        return
      case "Resumed":
        this.#add("note", seq, at, kindText.resumed)
        return
      case "Notified":
        this.#add("note", seq, at, kindText.notified(event.to, event.because))
        return
      case "CancelRequested":
        this.#add("note", seq, at, kindText.cancelled(event.by))
        return
      case "Ended":
        this.#add(event.status === "failure" ? "error" : "end", seq, at, kindText.ended(event.status, event.message))
        return
      case "StepDispatched":
      case "StepProgress":
    }
  }

  #plan(steps: readonly PlannedStep[]): void {
    for (const { key, title } of steps) this.#titles.set(key, title)
  }

  #failed(key: string, { message, hint }: Failure, final: boolean, seq: number, at: string): void {
    const text = `${this.#title(key)}: ${message}`
    this.#add(final ? "error" : "note", seq, at, final ? text : kindText.retried(text))
    if (hint !== undefined) this.#add("note", seq, at, hint)
    this.#last = ""
  }

  /** The lines from this one on that contain the text, ignoring case. */
  find(wanted: string, from = 0): readonly number[] {
    const needle = wanted.toLowerCase()
    const found: number[] = []
    if (needle === "") return found
    for (let at = from; at < this.text.length; at++) {
      const line = this.text[at] ?? ""
      if (textOf(line).toLowerCase().includes(needle)) found.push(at)
    }
    return found
  }
}

/** How Ansible reports a failure. */
const looksFailed = (line: string): boolean => /^(?:\p{Cc}\[[\d;]*m)*(?:fatal|failed): \[/u.test(line)
