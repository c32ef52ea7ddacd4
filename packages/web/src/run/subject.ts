import type { RunHead, SourceAnswer } from "@rangewright/application/wire"
import { useRead } from "../api/resource.ts"
import { t } from "../texts.ts"

export const sourceName = ({ name, sourceID }: Pick<SourceAnswer, "name" | "sourceID">): string => (name === "" ? sourceID : name)

/** What a run is about. Runs name sources and blueprints by records, which mean nothing to people. */
export const subjectName = ({ type, id }: RunHead["subject"], sources: readonly SourceAnswer[] = []): string => {
  if (type === "range" || type === "template") return id
  const source = type === "source" ? sources.find((one) => one.id === id) : undefined
  return source === undefined ? t.subjects[type] : sourceName(source)
}

/** The same for these runs; reads the sources only if one of the runs is about a source. */
export const useSubjectName = (runs: readonly RunHead[]): ((run: RunHead) => string) => {
  const isNeeded = runs.some(({ subject }) => subject.type === "source")
  const sources = useRead<readonly SourceAnswer[]>(isNeeded ? "/sources" : undefined)
  return ({ subject }) => subjectName(subject, sources.data.value)
}
