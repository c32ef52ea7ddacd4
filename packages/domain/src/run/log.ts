import type { Action } from "../plan/action.ts"
import { keptTexts } from "../plan/kept.ts"
import type { Plan, Step } from "../plan/plan.ts"
import type { JournalEntry, RunEvent, RunHead, StepFailure } from "./event.ts"
import { rangeOf, subjectText } from "./subject.ts"
import { onOneLine } from "../text.ts"

/**
 * The log of a run as text, in the shape of Ansible's default output without colour: clients find failures by `fatal:`, tasks by
 * `TASK [title]`, and the end by `PLAY RECAP`. A failed attempt that is retried has the line of a retried Ansible task, not `fatal:`.
 */
export interface RunLog {
  /** The text that this entry adds: whole lines, each ended; empty when it adds none. Costs O(text added). */
  readonly push: (entry: JournalEntry) => string
}

const width = 80
const header = (text: string): string => `\n${text} ${"*".repeat(Math.max(3, width - text.length - 1))}\n`

/** Title of the play that a step belongs to. */
const playOf = (action: Action): string => {
  switch (action.kind) {
    case "create-pool":
    case "grant-access":
      return "Prepare the range"
    case "create-network":
      return "Create the network"
    case "clone":
      return "Clone machines"
    case "configure":
      return "Configure machines"
    case "start":
      return "Start machines"
    case "await-address":
      return "Wait for addresses"
    case "stop":
    case "shutdown":
      return "Stop machines"
    case "delete":
      return "Delete machines"
    case "remove-network":
    case "remove-pool":
      return "Remove the range"
    case "take-snapshot":
      return "Take snapshots"
    case "roll-back":
      return "Roll machines back"
    case "remove-snapshot":
      return "Remove snapshots"
    case "record-testing":
      return "Record the testing mode"
    case "record-disguises":
      return "Record which machines are disguised"
    case "refuse":
      return "Check machines"
    case "guest":
      return action.stage === "role" ? "Run roles" : `Set up machines: ${action.stage}`
    case "work":
      return action.work
  }
}

type Outcome = "ok" | "changed" | "failed" | "skipped"
type Tally = Record<Outcome, number>

const hostOf = (step: Step): string => step.machine ?? "localhost"

const recapLine = (host: string, tally: Tally): string =>
  `${host.padEnd(26)} : ok=${String(tally.ok + tally.changed).padEnd(4)} changed=${String(tally.changed).padEnd(4)} unreachable=0    ` +
  `failed=${String(tally.failed).padEnd(4)} skipped=${String(tally.skipped).padEnd(4)} rescued=0    ignored=0\n`

const failureText = ({ message, hint }: StepFailure): string =>
  JSON.stringify({ changed: false, msg: hint === undefined ? message : `${message}\n${hint}` })

const waitTitle = ({ behind }: Pick<Extract<RunEvent, { readonly type: "Waiting" }>, "behind">): string =>
  behind === undefined ? "Wait until the run can continue" : `Wait for run ${behind}`

/** The text with a newline at its end. */
const lines = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`)
const warning = (text: string): string => `[WARNING]: ${onOneLine(text)}\n`

/** An incremental log. With `plan`, it may start in the middle of a run. */
export const openLog = (head: Pick<RunHead, "kind" | "subject">, plan?: Plan): RunLog => {
  const steps = new Map<string, Step>((plan?.steps ?? []).map((step) => [step.key, step]))
  const tallies = new Map<string, Tally>()
  const waits = new Set<string | undefined>()
  let play = ""
  let task = ""

  const enter = (nextPlay: string, nextTask: string): string => {
    let text = ""
    if (nextPlay !== play) text += header(`PLAY [${nextPlay}]`)
    if (nextPlay !== play || nextTask !== task) text += header(`TASK [${nextTask}]`)
    play = nextPlay
    task = nextTask
    return text
  }
  const count = (host: string, outcome: Outcome): void => {
    const tally = tallies.get(host) ?? { ok: 0, changed: 0, failed: 0, skipped: 0 }
    tally[outcome] += 1
    tallies.set(host, tally)
  }
  const aboutStep = (key: string, line: (host: string) => string): string => {
    const step = steps.get(key)
    if (step === undefined) return enter("Run", key) + line("localhost")
    return enter(playOf(step.action), step.title) + line(hostOf(step))
  }
  const told = (key: string, outcome: Outcome, line: (host: string) => string): string =>
    aboutStep(key, (host) => {
      count(host, outcome)
      return line(host)
    })
  const retried = ({ key, failure }: Extract<RunEvent, { readonly type: "StepFailed" }>): string =>
    aboutStep(key, (host) => `FAILED - RETRYING: [${host}]: ${steps.get(key)?.title ?? key}: ${onOneLine(failure.message)}\n`)
  const onServer = (title: string, line: string): string => enter("Run", title) + line

  const planned = (event: Extract<RunEvent, { readonly type: "Planned" }>): string => {
    for (const step of event.plan.steps) steps.set(step.key, step)
    count("localhost", "ok")
    const summary = `${event.plan.steps.length} steps, about ${Math.ceil(event.plan.criticalPathSeconds)} s`
    return (
      onServer(
        `Plan ${head.kind} of ${rangeOf(head) ?? subjectText(head.subject)}`,
        `ok: [localhost] => ${JSON.stringify({ msg: summary })}\n`,
      ) + [...keptTexts(event.plan.kept), ...event.plan.notes].map(warning).join("")
    )
  }
  const ended = (event: Extract<RunEvent, { readonly type: "Ended" }>): string => {
    const hosts = [...tallies].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const why = event.status === "success" || event.message === "" ? "" : lines(`\nRun ended: ${event.status}: ${event.message}`)
    return why + header("PLAY RECAP") + hosts.map(([host, tally]) => recapLine(host, tally)).join("")
  }

  return {
    push: ({ event }) => {
      switch (event.type) {
        case "Planned":
          return planned(event)
        case "StepSettled": {
          const changed = event.facts.changed !== false
          const outcome = changed ? "changed" : "ok"
          const warnings = (event.facts.warnings ?? []).map(warning).join("")
          return told(event.key, outcome, (host) => `${outcome}: [${host}]\n${warnings}`)
        }
        case "StepFailed":
          return event.final
            ? told(event.key, "failed", (host) => `fatal: [${host}]: FAILED! => ${failureText(event.failure)}\n`)
            : retried(event)
        case "StepSkipped":
          return told(
            event.key,
            "skipped",
            (host) => `skipping: [${host}] => ${JSON.stringify({ skip_reason: event.because })}\n`,
          )
        case "Output": {
          const step = steps.get(event.key)
          return (step === undefined ? "" : enter(playOf(step.action), step.title)) + lines(event.text)
        }
        case "Reallocated":
          return onServer(
            `Assign another VMID to ${event.machine}`,
            warning(`VMID ${event.from} is taken; ${event.machine} gets ${event.to}`),
          )
        // of overlapping waits: the start of the first and the end of the last
        case "Waiting": {
          const waited = waits.size > 0
          waits.add(event.key)
          return waited ? "" : onServer(waitTitle(event), warning(`the run waits: ${event.reason}`))
        }
        case "Continued":
          waits.delete(event.key)
          return waits.size > 0 ? "" : onServer(waitTitle(event), `ok: [localhost] => ${JSON.stringify({ msg: event.reason })}\n`)
        case "Resumed":
          waits.clear()
          return onServer("Resume the run", warning("the service was restarted; the run continues where it stopped"))
        case "Notified":
          return onServer(
            `Notify ${event.to}`,
            event.because === undefined ? "ok: [localhost]\n" : warning(`Cannot notify ${event.to}: ${event.because}`),
          )
        case "CancelRequested":
          return onServer("Abort", warning(`${event.by} aborted the run; no new step starts, and running steps finish`))
        case "Ended":
          return ended(event)
        case "StepStarted":
        case "StepDispatched":
        case "StepProgress":
          return ""
      }
    },
  }
}

/** The log of a run so far. `plan` is needed only when the entries do not start with it. */
export const renderLog = (head: Pick<RunHead, "kind" | "subject">, entries: Iterable<JournalEntry>, plan?: Plan): string => {
  const log = openLog(head, plan)
  let text = ""
  for (const entry of entries) text += log.push(entry)
  return text
}
