import type { RangeId } from "../access/ids.ts"

export const subjectTypes = ["range", "source", "blueprint", "template", "access", "installation"] as const
export type SubjectType = (typeof subjectTypes)[number]

/** What a run changes. A subject has at most one unfinished run. */
export type RunSubject =
  | { readonly type: "range"; readonly id: RangeId }
  | { readonly type: Exclude<SubjectType, "range">; readonly id: string }

/** The whole installation. Runs of ranges that open while a run changes it wait for the end of that run. */
export const installation = { type: "installation", id: "this" } as const satisfies RunSubject

/** Access on the hypervisor, as a single subject: its changes never overlap. */
export const accessSubject = { type: "access", id: "hypervisor" } as const satisfies RunSubject

export const rangeSubject = (id: RangeId): RunSubject => ({ type: "range", id })

/** A subject as a unique key (`range:LAB`). */
export const subjectKey = ({ type, id }: RunSubject): string => `${type}:${id}`

const isSubjectType = (text: string): text is SubjectType => (subjectTypes as readonly string[]).includes(text)

/** The subject that `subjectKey` wrote; undefined for anything else. */
export const parseSubjectKey = (key: string): RunSubject | undefined => {
  const colon = key.indexOf(":")
  const type = key.slice(0, Math.max(0, colon))
  const id = key.slice(colon + 1)
  if (!isSubjectType(type)) return undefined
  return type === "range" ? rangeSubject(id as RangeId) : { type, id }
}

/** The subject for display: `range LAB`, `the installation`. */
export const subjectText = ({ type, id }: RunSubject): string => {
  if (type === "installation") return "the installation"
  return type === "access" ? "access on the hypervisor" : `${type} ${id}`
}

/** The range that a run changes; undefined for other subjects. */
export const rangeOf = ({ subject }: { readonly subject: RunSubject }): RangeId | undefined =>
  subject.type === "range" ? subject.id : undefined
