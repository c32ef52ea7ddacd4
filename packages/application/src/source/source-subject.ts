import type { RecordId, RunSubject } from "@rangewright/domain"

/** A source as the subject of runs. Identified by its record: a source created again under an old ID is another one. */
export const sourceSubject = (recordId: RecordId): RunSubject => ({ type: "source", id: recordId })
