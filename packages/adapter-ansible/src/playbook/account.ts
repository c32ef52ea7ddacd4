import type { Cover, Json } from "@rangewright/domain"
import { eventsOf, type Outcome, type PlaybookEvent } from "./events.ts"
import { isRefusedLogin } from "./refused-login.ts"
import { logRenderer } from "./render-log.ts"

type TaskResult = Extract<PlaybookEvent, { readonly type: "result" }>

/** Facts collected from the output of one run. Stored texts (task names, reasons) are masked; the lines are not. */
export interface Account {
  /** Processes one printed line, `cut` if it was too long to be read whole, and returns the log lines for it. */
  readonly take: (line: string, cut?: boolean) => readonly string[]
  /** Whether anything was changed on any machine; undefined when the run printed no summary. */
  readonly changed: () => boolean | undefined
  /** Why the run failed, in the words of the failed task; undefined when no task failed. */
  readonly failure: () => string | undefined
  /** Whether that task could not reach its machine because the machine refused the login. */
  readonly isLoginRefused: () => boolean
  /** The task that was started last. */
  readonly lastTask: () => string | undefined
  /** Counts of tasks by outcome, and the slowest tasks; undefined when the run prints no events. */
  readonly tasks: () => Json | undefined
  /** Output of the task `Report` of a built-in playbook, unmasked; undefined when the run prints no events or has no such task. */
  readonly report: () => string | undefined
}

/** The task of a built-in playbook whose output is the stage's result. */
const reportTask = "Report"

const words = (value: unknown): string => (typeof value === "string" ? value.trim() : "")

const firstItem = (result: TaskResult["result"]): TaskResult["result"] => {
  const { results } = result
  const failed = Array.isArray(results) ? results.find((item) => Object(item).failed === true) : undefined
  return failed === undefined ? result : (failed as TaskResult["result"])
}

/** Characters kept of a task's name, and the last ones of why it failed. */
const [longestName, longestReason] = [500, 1500]

const reasonOf = ({ task, outcome, result }: TaskResult, cover: Cover): string => {
  const item = firstItem(result)
  const [msg, errors, output] = [words(item["msg"]), words(item["stderr"]), words(item["stdout"])]
  // a failed command may have explained itself only in its output
  const said = [...new Set([msg, errors || (msg === "" || msg === "non-zero return code" ? output : "")])].filter(Boolean)
  const because = said.length > 0 ? said : ["it gave no reason"]
  return `task "${task}" ${outcome === "unreachable" ? "did not reach it" : "failed"}: ${cover(because.join(": "), -longestReason)}`
}

/** Number of tasks named in a summary. */
const namedTasks = 5

/** Counts tasks by outcome, and remembers the slowest. */
const summary = () => {
  const counts = new Map<Outcome, number>()
  let slowest: readonly (TaskResult & { readonly seconds: number })[] = []
  return {
    note: (result: TaskResult): void => {
      counts.set(result.outcome, (counts.get(result.outcome) ?? 0) + 1)
      const { seconds } = result
      if (seconds === undefined) return
      slowest = [...slowest, { ...result, seconds }].toSorted((a, b) => b.seconds - a.seconds).slice(0, namedTasks)
    },
    read: (): Json => ({
      ...Object.fromEntries(counts),
      slowest: slowest.map(({ task, host, outcome, seconds }) => ({ task, host, outcome, seconds })),
    }),
  }
}

/** The text that a report returned: a shell's stdout, or the member `report` of a PowerShell result. */
const saidIn = (result: TaskResult["result"]): string | undefined => {
  const { stdout, result: ofPowerShell } = result
  if (typeof stdout === "string") return stdout
  if (typeof ofPowerShell !== "object" || ofPowerShell === null || !("report" in ofPowerShell)) return undefined
  return typeof ofPowerShell.report === "string" ? ofPowerShell.report : undefined
}

/** Parses the events of the callback `ansible.posix.jsonl`. */
const fromEvents = (cover: Cover): Account => {
  const render = logRenderer()
  let failure: TaskResult | undefined
  let changed: boolean | undefined
  let lastTask: string | undefined
  let report: string | undefined
  const tasks = summary()
  const reason = (): string | undefined => (failure === undefined ? undefined : reasonOf(failure, cover))
  const note = (event: PlaybookEvent): void => {
    // task names are already rendered, so they contain the values of their variables
    if (event.type === "task") lastTask = cover(event.name, longestName)
    if (event.type === "result") {
      const result = { ...event, task: cover(event.task, longestName) }
      tasks.note(result)
      if (event.task === reportTask) report = saidIn(event.result) ?? report
      if (event.outcome === "failed" || event.outcome === "unreachable") failure = result
    }
    if (event.type === "recap") changed = [...event.hosts.values()].some((recap) => recap.changed > 0)
  }
  return {
    take: (line, cut = false) => {
      if (cut) return ["[the result of a task is omitted: it is too long]"]
      const events = eventsOf(line)
      events?.forEach(note)
      return events === undefined ? [line] : events.flatMap(render)
    },
    changed: () => changed,
    failure: reason,
    isLoginRefused: () => failure?.outcome === "unreachable" && isRefusedLogin(reason() ?? ""),
    lastTask: () => lastTask,
    tasks: tasks.read,
    report: () => report,
  }
}

/** Parses Ansible's output for people, used if the collection `ansible.posix` is not installed. */
const fromText = (cover: Cover): Account => {
  let failure: string | undefined
  let isLoginRefused = false
  let changed: boolean | undefined
  let lastTask: string | undefined
  return {
    take: (line) => {
      const begun = /^(?:TASK|RUNNING HANDLER) \[(?<name>.*)\]/u.exec(line)?.groups?.["name"]
      if (begun !== undefined) lastTask = cover(begun, longestName)
      if (/^(?:fatal|failed): \[/u.test(line)) {
        failure = `task "${lastTask ?? ""}" failed: ${cover(line, -longestReason)}`
        isLoginRefused = /^fatal: \[[^\]]*\]: UNREACHABLE!/u.test(line) && isRefusedLogin(failure)
      }
      const counted = /\bok=\d+\s+changed=(?<changed>\d+)\s+unreachable=/u.exec(line)?.groups?.["changed"]
      if (counted !== undefined) changed = changed === true || Number(counted) > 0
      return [line]
    },
    changed: () => changed,
    failure: () => failure,
    isLoginRefused: () => isLoginRefused,
    lastTask: () => lastTask,
    tasks: () => undefined,
    report: () => undefined,
  }
}

/** `cover` masks secrets in a text. */
export const openAccount = (callback: "jsonl" | "default", cover: Cover): Account =>
  callback === "jsonl" ? fromEvents(cover) : fromText(cover)
