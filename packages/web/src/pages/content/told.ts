import type { SyncAnswer } from "@rangewright/application/wire"
import { change, Refusal } from "../../api/client.ts"
import { content } from "../../texts/content.ts"
import { t } from "../../texts.ts"

const texts = content.catalog

type Outcomes = Partial<SyncAnswer> & Pick<SyncAnswer, "blueprintResults">

/** More notes than this would hide the result. */
const mostNotes = 20

/** Notes on parts of a source that are not read, have no effect, or are used without being declared: one line each. */
export const notesOf = ({ warnings = [], blueprintResults }: Partial<SyncAnswer>): readonly string[] => {
  const notes = [
    // a note on a whole file or folder is located at its beginning
    ...warnings.map(({ file, line, column, message }) => texts.note(file, line + column > 2 ? line : undefined, message)),
    ...(blueprintResults?.undeclaredDependencies ?? []).map(({ blueprintID, role }) => texts.undeclared(blueprintID, role)),
  ]
  const left = notes.length - mostNotes
  return left > 0 ? [...notes.slice(0, mostNotes), texts.moreNotes(left)] : notes
}

/** Fetches a source's current content; returns notes on unused parts. */
export const fetchNow = async (sourceID: string): Promise<string> =>
  [t.sources.synced, ...notesOf(await change<SyncAnswer>("POST", "/sources/{sourceID}/sync", { sourceID }))].join("\n")

/** The result for each item, for people; throws when any item failed. */
export const toldOf = (answer: Outcomes): string => {
  const { templateResults = [], localAnsibleResults, blueprintResults } = answer
  const outcomes = [
    ...templateResults,
    ...(localAnsibleResults?.roleResults ?? []),
    ...(localAnsibleResults?.collectionResults ?? []),
    ...(blueprintResults.results ?? []),
    ...blueprintResults.ansibleResults.map(({ error, ...rest }) => ({ ...rest, message: error })),
  ]
  const done = outcomes.filter(({ ok }) => ok).map(({ name }) => name)
  const failed = outcomes.filter(({ ok }) => !ok)
  const told = [done.length === 0 ? texts.nothing : texts.done(done), ...notesOf(answer)].join("\n")
  if (failed.length === 0) return told
  const reasons = failed.map(({ name, message = texts.noReason }) => texts.failed(name, message))
  throw new Refusal(200, [...reasons, ...(done.length === 0 ? [] : [told])].join("\n"))
}
