import type { JournalEntry, RunEvent } from "../run/event.ts"
import type { RunLog } from "../run/log.ts"
import { onOneLine } from "../text.ts"

const told = (text: string): string => `=> ${onOneLine(text)}\n`

const rule = "=".repeat(40)
const banner = `${rule}\n=> Build complete!\n${rule}\n`

const ended = ({ status, message }: Extract<RunEvent, { readonly type: "Ended" }>): string => {
  if (status === "success" || status === "partial") return `${message === "" ? "" : told(message)}${banner}`
  return told(status === "aborted" ? "Build aborted" : `Build failed: ${message}`)
}

/**
 * The log of a template build as text: the tool's output, and messages of the service. Lines of the service begin with `=>`, by which
 * clients choose what they show.
 */
export const openBuildLog = (template: string): RunLog => {
  const titles = new Map<string, string>()
  const event = (one: RunEvent): string => {
    switch (one.type) {
      case "Planned":
        for (const { key, title } of one.plan.steps) titles.set(key, title)
        return told(`${template} is queued: it starts as soon as another build may run`)
      case "Resumed":
        return one.generation > 1 ? told("The service was restarted: unfinished builds start over") : ""
      case "StepStarted":
        return told(titles.get(one.key) ?? one.key)
      case "Output":
        return one.text === "" || one.text.endsWith("\n") ? one.text : `${one.text}\n`
      case "StepFailed":
        return told(`${titles.get(one.key) ?? one.key}: ${one.failure.message}`)
      case "Waiting":
        return told(`Waiting: ${one.reason}`)
      case "CancelRequested":
        return told("The build is being aborted")
      case "Ended":
        return ended(one)
      case "Continued":
      case "Notified":
      case "Reallocated":
      case "StepDispatched":
      case "StepProgress":
      case "StepSettled":
      case "StepSkipped":
        return ""
    }
  }
  return { push: ({ event: one }: JournalEntry) => event(one) }
}
