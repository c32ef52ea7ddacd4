import type { RangeId, RecordId } from "@rangewright/domain"
import type { NewRange } from "@rangewright/ports"

/** A range as it is created: the lowest free number, an empty configuration, no owner, and a record id made from its id. */
export const newRange = (id: string, over: Partial<NewRange> = {}): NewRange => ({
  id: id as RangeId,
  recordId: id.toLowerCase().padStart(15, "0").slice(-15) as RecordId,
  number: undefined,
  reservedNumbers: [],
  name: id,
  description: "",
  purpose: "",
  config: "ludus: []\n",
  createdBy: undefined,
  owners: [],
  createdAt: new Date(0),
  ...over,
})
