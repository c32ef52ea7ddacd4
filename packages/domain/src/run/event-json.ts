import * as Schema from "effect/Schema"
import { namesWhatIsNew, PlanJson } from "../plan/plan-json.ts"
import type { RunEvent } from "./event.ts"

/**
 * The version of the journal's format. It increases when an event changes so that an older service would misread it; events are then
 * written with it as `v`, and older ones are converted here. An entry without `v` has version 1. New kinds of events and new members need
 * no new version.
 */
const version = 1

const text = Schema.String
const key = text
const texts = Schema.optional(Schema.Array(text))

const event = <const T extends string, const F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ type: Schema.Literal(type), v: Schema.optional(Schema.Literal(version)), ...fields })

const facts = Schema.Struct({
  address: Schema.optional(text),
  addresses: texts,
  foreignAddresses: texts,
  changed: Schema.optional(Schema.Boolean),
  warnings: texts,
  data: Schema.optional(Schema.Unknown),
})

const issue = Schema.Struct({
  path: text,
  message: text,
  line: Schema.optional(Schema.Finite),
  column: Schema.optional(Schema.Finite),
  allowed: Schema.optional(text),
})

const failure = Schema.Struct({
  tag: text,
  kind: text,
  message: text,
  hint: Schema.optional(text),
  issues: Schema.optional(Schema.Array(issue)),
})

const wait = { reason: text, key: Schema.optional(key), behind: Schema.optional(text) }

const RunEventJson = Schema.Union([
  event("Planned", { plan: PlanJson }),
  event("StepStarted", { key, attempt: Schema.Int }),
  event("StepDispatched", { key, attempt: Schema.Int, token: Schema.Unknown }),
  event("StepSettled", { key, facts }),
  event("StepFailed", { key, failure, final: Schema.Boolean }),
  event("StepSkipped", { key, because: text }),
  event("Reallocated", { machine: text, from: Schema.Int, to: Schema.Int }),
  event("Output", { key, text }),
  event("StepProgress", { key, done: Schema.Finite, total: Schema.optional(Schema.Finite) }),
  event("Waiting", wait),
  event("Continued", wait),
  event("Resumed", { generation: Schema.Int }),
  event("Notified", { to: text, because: Schema.optional(text) }),
  event("CancelRequested", { by: text }),
  event("Ended", { status: Schema.Literals(["success", "partial", "failure", "aborted"]), message: text }),
])

const isKnown = Schema.is(RunEventJson)
const types: ReadonlySet<string> = new Set(RunEventJson.members.map((member) => member.fields.type.literal))

/** The members of an event that all versions understand. */
const isAnyEvent = Schema.is(Schema.Struct({ type: text, v: Schema.optional(Schema.Int), plan: Schema.optional(Schema.Unknown) }))

/** The stored form of an event. */
export const writeRunEvent = (of: RunEvent): string => JSON.stringify(of satisfies typeof RunEventJson.Type)

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Why a stored event cannot be read: a newer version wrote it, or it is damaged. */
export type UnreadEvent = "newer" | "damaged"

/** The event that `writeRunEvent` wrote, in this version or an older one. */
export const readRunEvent = (json: string): RunEvent | UnreadEvent => {
  const value = parsed(json)
  if (isKnown(value)) return value as RunEvent
  if (!isAnyEvent(value)) return "damaged"
  return !types.has(value.type) || (value.v ?? 1) > version || namesWhatIsNew(value.plan) ? "newer" : "damaged"
}

/** The event as it will be read back from the store. Throws when it could not be read back. */
export const storedRunEvent = (of: RunEvent): RunEvent => {
  const stored = readRunEvent(writeRunEvent(of))
  if (typeof stored === "string") throw new Error(`a journal cannot store this ${of.type}`)
  return stored
}
