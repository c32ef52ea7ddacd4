import { signal } from "@preact/signals"

/** What was typed into a configuration and not saved. */
interface Draft {
  readonly text: string
  /** What was stored when it was begun. */
  readonly from: string
}

/** By range. They wait while other pages are looked at, and go with the document: what is typed may be secret. */
const drafts = new Map<string, Draft>()
/** The ranges that have one: what shows no more than that is not rendered again with every key. */
const drafted = signal<ReadonlySet<string>>(new Set())

const warn = (event: BeforeUnloadEvent): void => event.preventDefault()

export const draftOf = (rangeID: string): Draft | undefined => drafts.get(rangeID)

export const hasDraft = (rangeID: string): boolean => drafted.value.has(rangeID)

export const keepDraft = (rangeID: string, draft: Draft): void => {
  if (draft.text === draft.from) drafts.delete(rangeID)
  else drafts.set(rangeID, draft)
  if (drafts.has(rangeID) !== drafted.peek().has(rangeID)) drafted.value = new Set(drafts.keys())
  if (drafts.size === 0) removeEventListener("beforeunload", warn)
  else addEventListener("beforeunload", warn)
}
