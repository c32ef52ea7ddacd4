import type { PlaybookEvent, Recap } from "./events.ts"

type Result = Extract<PlaybookEvent, { readonly type: "result" }>
type Fields = Result["result"]

/** Ansible's own width of a heading without a terminal. */
const width = 79

const heading = (words: string): readonly string[] => ["", `${words} ${"*".repeat(Math.max(3, width - words.length))}`]

/** Parts of a result that are meant for the tool itself, not for people. */
const inner = new Set(["invocation", "diff", "exception", "action", "failed", "ansible_facts"])

const dump = (result: Fields): string =>
  JSON.stringify(Object.fromEntries(Object.entries(result).filter(([key]) => !key.startsWith("_ansible") && !inner.has(key))))

const aside = new Set([...inner, "changed", "skipped", "skip_reason", "item", "ansible_loop_var"])

/** The message of a task that only prints: its text, or the variable that it shows. */
const speech = (result: Fields): string => {
  if (result["_ansible_verbose_always"] !== true) return ""
  const said = Object.entries(result).filter(([key]) =>
    "msg" in result ? key === "msg" : !key.startsWith("_ansible") && !aside.has(key),
  )
  return ` => ${JSON.stringify(Object.fromEntries(said), null, 4)}`
}

const itemsOf = (result: Fields): readonly Fields[] => {
  const { results } = result
  return Array.isArray(results) && "_ansible_item_label" in Object(results[0]) ? (results as readonly Fields[]) : []
}

const labelOf = (item: Fields): string => {
  const label = item["_ansible_item_label"]
  return typeof label === "string" ? label : JSON.stringify(label)
}

const itemLine = (host: string, item: Fields): string => {
  const label = labelOf(item)
  if (item["failed"] === true) return `failed: [${host}] (item=${label}) => ${dump(item)}`
  if (item["skipped"] === true) return `skipping: [${host}] => (item=${label}) `
  return `${item["changed"] === true ? "changed" : "ok"}: [${host}] => (item=${label})${speech(item)}`
}

const resultLines = ({ host, outcome, result }: Result): readonly string[] => {
  const items = itemsOf(result)
  const lines = items.map((item) => itemLine(host, item))
  switch (outcome) {
    case "ok":
    case "changed": {
      return (items.length > 0 ? lines : [`${outcome}: [${host}]${speech(result)}`]).flatMap((line) => line.split("\n"))
    }
    case "skipped":
      return items.length > 0 ? lines : [`skipping: [${host}]`]
    case "failed":
      // the items have already printed everything
      return items.length > 0 ? lines : [`fatal: [${host}]: FAILED! => ${dump(result)}`]
    case "unreachable":
      return [`fatal: [${host}]: UNREACHABLE! => ${dump({ ...result, changed: false, unreachable: true })}`]
  }
}

const counts: readonly (readonly [keyof Recap, string])[] = [
  ["ok", "ok"],
  ["changed", "changed"],
  ["unreachable", "unreachable"],
  ["failures", "failed"],
  ["skipped", "skipped"],
  ["rescued", "rescued"],
  ["ignored", "ignored"],
]

const recapLine = ([host, recap]: readonly [string, Recap]): string =>
  `${host.padEnd(26)} : ${counts.map(([key, name]) => `${name}=${String(recap[key]).padEnd(4)}`).join(" ")}`

/**
 * Renders events as the lines that `ansible-playbook` itself prints, which log-reading tools look for. Events do not say whether a failure
 * was ignored: it was if another task of its play follows.
 */
export const logRenderer = (): ((event: PlaybookEvent) => readonly string[]) => {
  let failed = false
  return (event) => {
    switch (event.type) {
      case "play":
        failed = false
        return heading(`PLAY [${event.name}]`)
      case "task": {
        const before = failed ? ["...ignoring"] : []
        failed = false
        return [...before, ...heading(`${event.handler ? "RUNNING HANDLER" : "TASK"} [${event.name}]`)]
      }
      case "result":
        failed ||= event.outcome === "failed"
        return resultLines(event)
      case "recap": {
        const before = failed && [...event.hosts.values()].every(({ failures }) => failures === 0) ? ["...ignoring"] : []
        return [...before, ...heading("PLAY RECAP"), ...[...event.hosts].map(recapLine), ""]
      }
    }
  }
}
