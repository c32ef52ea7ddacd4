import type { RecordId, RunSubject } from "@rangewright/domain"

/** A source as what runs are about: by its record, for one made anew under an old id is another one. */
export const sourceSubject = (recordId: RecordId): RunSubject => ({ type: "source", id: recordId })
