import type { JournalEntry, StepFacts } from "@rangewright/domain"
import * as Schema from "effect/Schema"
import { PlanObject, planObject } from "./plan.ts"
import { failureObject, progressObject, StepFailureObject } from "./run.ts"

const event = <const T extends string, const F extends Schema.Struct.Fields>(type: T, fields: F) =>
  Schema.Struct({ seq: Schema.Int, at: Schema.String, type: Schema.Literal(type), ...fields })

const key = Schema.String
const texts = Schema.optionalKey(Schema.Array(Schema.String))
const wait = {
  reason: Schema.String,
  /** The step that waits; absent: the run itself waits. */
  key: Schema.optionalKey(key),
  /** The run whose end it waits for. */
  behind: Schema.optionalKey(Schema.String),
}

const FactsObject = Schema.Struct({
  address: Schema.optionalKey(Schema.String),
  addresses: texts,
  /** Other addresses that the machine reports and that are not its own. */
  foreignAddresses: texts,
  changed: Schema.optionalKey(Schema.Boolean),
  warnings: texts,
  /** The result of the step; its shape depends on the run kind. */
  data: Schema.optionalKey(Schema.Unknown),
})

/** One journal entry on the event stream; its `type` decides which members it has. */
export const RunEventObject = Schema.Union([
  event("Planned", { plan: PlanObject }),
  event("StepStarted", { key, attempt: Schema.Int }),
  event("StepDispatched", { key, attempt: Schema.Int }),
  event("StepSettled", { key, facts: FactsObject }),
  event("StepFailed", { key, failure: StepFailureObject, final: Schema.Boolean }),
  event("StepSkipped", { key, because: Schema.String }),
  event("Reallocated", { machine: Schema.String, from: Schema.Int, to: Schema.Int }),
  event("Output", { key, text: Schema.String }),
  event("StepProgress", { key, done: Schema.Number, total: Schema.optionalKey(Schema.Number) }),
  event("Waiting", wait),
  event("Continued", wait),
  event("Resumed", { generation: Schema.Int }),
  event("Notified", { to: Schema.String, because: Schema.optionalKey(Schema.String) }),
  event("CancelRequested", { by: Schema.String }),
  event("Ended", { status: Schema.Literals(["success", "partial", "failure", "aborted"]), message: Schema.String }),
]).annotate({ identifier: "RunEvent" })

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> }
const defined = <T extends object>(members: T): Defined<T> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Defined<T>

const factsObject = ({ address, addresses, foreignAddresses, changed, warnings, data }: StepFacts) =>
  defined({ address, addresses, foreignAddresses, changed, warnings, data })

const shown = (entry: JournalEntry): typeof RunEventObject.Type => {
  const { event: of } = entry
  const head = { seq: entry.seq, at: entry.at.toISOString() }
  switch (of.type) {
    case "Planned":
      return { ...head, type: of.type, plan: planObject(of.plan) }
    case "StepStarted":
    case "StepDispatched":
      return { ...head, type: of.type, key: of.key, attempt: of.attempt }
    case "StepSettled":
      return { ...head, type: of.type, key: of.key, facts: factsObject(of.facts) }
    case "StepFailed":
      return { ...head, type: of.type, key: of.key, failure: failureObject(of.failure), final: of.final }
    case "StepSkipped":
      return { ...head, type: of.type, key: of.key, because: of.because }
    case "Reallocated":
      return { ...head, type: of.type, machine: of.machine, from: of.from, to: of.to }
    case "Output":
      return { ...head, type: of.type, key: of.key, text: of.text }
    case "StepProgress":
      return { ...head, type: of.type, key: of.key, ...progressObject(of) }
    case "Waiting":
    case "Continued":
      return { ...head, type: of.type, reason: of.reason, ...defined({ key: of.key, behind: of.behind }) }
    case "Resumed":
      return { ...head, type: of.type, generation: of.generation }
    case "Notified":
      return { ...head, type: of.type, to: of.to, ...defined({ because: of.because }) }
    case "CancelRequested":
      return { ...head, type: of.type, by: of.by }
    case "Ended":
      return { ...head, type: of.type, status: of.status, message: of.message }
  }
}

/**
 * A journal entry for a client: the plan without the inputs of its steps, and no task IDs. Undefined for a kind of event that only a newer
 * version knows.
 */
export const runEventObject = (entry: JournalEntry): typeof RunEventObject.Type | undefined => shown(entry)
