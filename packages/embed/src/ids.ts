import {
  isRangeId,
  isRecordId,
  isUserId,
  isVmid,
  type RangeId,
  type RecordId,
  type UserId,
  type Vmid,
} from "@rangewright/domain/access"
import { invalid, requireKinds } from "./invalid.ts"

/** The ID of a range: a letter, then letters, digits, `_` and `-`; up to three levels separated by `/`. Throws `InvalidInputError`. */
export const rangeId = (id: string): RangeId => {
  requireKinds("rangeId", { id }, { id: "text" })
  return isRangeId(id)
    ? id
    : invalid(
        `${JSON.stringify(id)} is not the ID of a range: use a letter, then letters, digits, _ and -, at most 64 in all, and / between up to three levels`,
      )
}

/** The ID of a user: a letter, then letters and digits, at most 20. Throws `InvalidInputError`. */
export const userId = (id: string): UserId => {
  requireKinds("userId", { id }, { id: "text" })
  return isUserId(id)
    ? id
    : invalid(`${JSON.stringify(id)} is not the ID of a user: use a letter, then letters and digits, at most 20 in all`)
}

/** The ID of a record: 15 characters of a-z and 0-9. Throws `InvalidInputError`. */
export const recordId = (id: string): RecordId => {
  requireKinds("recordId", { id }, { id: "text" })
  return isRecordId(id) ? id : invalid(`${JSON.stringify(id)} is not the ID of a record: use 15 characters of a-z and 0-9`)
}

/** The number of a VM: 100 to 999999999. Throws `InvalidInputError`. */
export const vmid = (id: number): Vmid => {
  requireKinds("vmid", { id }, { id: "number" })
  return isVmid(id) ? id : invalid(`${id} is not a VMID: use a whole number from 100 to 999999999`)
}
