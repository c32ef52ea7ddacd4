import type { Json } from "@rangewright/domain"
import { eventsOf, type Outcome, type PlaybookEvent } from "./events.ts"
import { isRefusedLogin } from "./refused-login.ts"
import { logRenderer } from "./render-log.ts"

type TaskResult = Extract<PlaybookEvent, { readonly type: "result" }>

/** What the lines of one run told so far. What is kept here (names of tasks, reasons) is covered; the lines are not. */
export interface Account {
  /** Takes one printed line, cut where it was too long to be read whole, and returns the lines of the log that it stands for. */
  readonly take: (line: string, cut?: boolean) => readonly string[]
  /** Whether anything was changed on any machine; undefined when the run told no end. */
  readonly changed: () => boolean | undefined
  /** Why the run failed, in the words of the failed task; undefined where no task failed. */
  readonly failure: () => string | undefined
  /** Whether that task did not reach its machine because the machine refused the login. */
  readonly isLoginRefused: () => boolean
  /** The task that was begun last. */
  readonly lastTask: () => string | undefined
  /** How often tasks came to which end, and those that took longest; undefined where the run tells no events. */
  readonly tasks: () => Json | undefined
  /** What the task `Report` of a built-in playbook printed, as it is; undefined where the run tells no events, or had none. */
  readonly report: () => string | undefined
}

/** The task of a built-in playbook whose output is the stage's result. */
const reportTask = "Report"

type Cover = (text: string) => string

const words = (value: unknown): string => (typeof value === "string" ? value.trim() : "")

const firstItem = (result: TaskResult["result"]): TaskResult["result"] => {
  const { results } = result
  const failed = Array.isArray(results) ? results.find((item) => Object(item).failed === true) : undefined
  return failed === undefined ? result : (failed as TaskResult["result"])
}

const tail = (text: string): string => text.slice(-1500)

const reasonOf = ({ task, outcome, result }: TaskResult, cover: Cover): string => {
  const item = firstItem(result)
  const [msg, errors, output] = [words(item["msg"]), words(item["stderr"]), words(item["stdout"])]
  // a command that ends badly may have said why in its output alone
  const said = [...new Set([msg, errors || (msg === "" || msg === "non-zero return code" ? output : "")])].filter(Boolean)
  const because = said.length > 0 ? said : ["it gave no reason"]
  return `task "${task}" ${outcome === "unreachable" ? "did not reach it" : "failed"}: ${tail(cover(because.join(": ")))}`
}

/** Tasks that a summary names. */
const namedTasks = 5

/** Counts what tasks came to, and remembers the slowest. */
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

/** The text that a report returned: what a shell printed, or of PowerShell the member `report` of its result. */
const saidIn = (result: TaskResult["result"]): string | undefined => {
  const { stdout, result: ofPowerShell } = result
  if (typeof stdout === "string") return stdout
  if (typeof ofPowerShell !== "object" || ofPowerShell === null || !("report" in ofPowerShell)) return undefined
  return typeof ofPowerShell.report === "string" ? ofPowerShell.report : undefined
}

/** Reads the events of the callback `ansible.posix.jsonl`. */
const fromEvents = (cover: Cover): Account => {
  const render = logRenderer()
  let failure: TaskResult | undefined
  let changed: boolean | undefined
  let lastTask: string | undefined
  let report: string | undefined
  const tasks = summary()
  const reason = (): string | undefined => (failure === undefined ? undefined : reasonOf(failure, cover))
  const note = (event: PlaybookEvent): void => {
    // names of tasks come rendered: a variable in one is told here
    if (event.type === "task") lastTask = cover(event.name)
    if (event.type === "result") {
      const result = { ...event, task: cover(event.task) }
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

/** Reads what Ansible prints for people, where the collection `ansible.posix` is not installed. */
const fromText = (cover: Cover): Account => {
  let failure: string | undefined
  let isLoginRefused = false
  let changed: boolean | undefined
  let lastTask: string | undefined
  return {
    take: (line) => {
      const begun = /^(?:TASK|RUNNING HANDLER) \[(?<name>.*)\]/u.exec(line)?.groups?.["name"]
      if (begun !== undefined) lastTask = cover(begun)
      if (/^(?:fatal|failed): \[/u.test(line)) {
        failure = `task "${lastTask ?? ""}" failed: ${tail(cover(line))}`
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

/** `cover` takes secrets out of a text. */
export const openAccount = (callback: "jsonl" | "default", cover: Cover): Account =>
  callback === "jsonl" ? fromEvents(cover) : fromText(cover)
