import type { Brand } from "effect/Brand"

/** ID of a user: a letter, then letters and digits, at most 20 in all. */
export type UserId = string & Brand<"UserId">
/** ID of a range, and of its pool: up to three levels separated by `/`. */
export type RangeId = string & Brand<"RangeId">
/** ID of a run; also the id of its log history entry. 15 characters of a-z and 0-9. */
export type RunId = string & Brand<"RunId">
/** ID of a record in the record API: 15 characters of a-z and 0-9. */
export type RecordId = string & Brand<"RecordId">
/** Number of a VM on the hypervisor: 100 to 999999999. */
export type Vmid = number & Brand<"Vmid">

const userIdPattern = /^[A-Za-z][A-Za-z0-9]{0,19}$/u
const rangeIdPattern = /^[A-Za-z][A-Za-z0-9_-]*(\/[A-Za-z0-9_-]+){0,2}$/u
const recordIdPattern = /^[a-z0-9]{15}$/u

export const isUserId = (text: string): text is UserId => userIdPattern.test(text)
/** At most 64 characters in all, so that pool, folder and group names derived from it stay valid. */
export const isRangeId = (text: string): text is RangeId => text.length <= 64 && rangeIdPattern.test(text)
export const isRecordId = (text: string): text is RecordId => recordIdPattern.test(text)
export const isRunId = (text: string): text is RunId => recordIdPattern.test(text)
export const isVmid = (n: number): n is Vmid => Number.isInteger(n) && n >= 100 && n <= 999_999_999

/** The bootstrap administrator. It owns no range. */
export const rootUserId = "ROOT" as UserId

/** Reserved user ids, compared case-insensitively. */
const reservedUserIds: ReadonlySet<string> = new Set(["ADMIN", "ROOT", "CICD", "SHARED", "0"])
export const isReservedUserId = (text: string): boolean => reservedUserIds.has(text.toUpperCase())
