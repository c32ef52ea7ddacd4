import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { PveError } from "../core/errors.ts"
import type { Fault } from "./plan.ts"

const When = Schema.Literals(["before", "after"])
const times = { times: Schema.optionalKey(Schema.Union([Schema.Int, Schema.Literal("always")])) }
const Match = Schema.Struct({
  method: Schema.optionalKey(Schema.String),
  path: Schema.optionalKey(Schema.String),
  nth: Schema.optionalKey(Schema.Int),
})
const match = { match: Schema.optionalKey(Match) }
const task = {
  type: Schema.optionalKey(Schema.String),
  id: Schema.optionalKey(Schema.String),
  nth: Schema.optionalKey(Schema.Int),
  when: When,
}

const AnyFault = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("respond"),
    ...match,
    when: When,
    status: Schema.Int,
    message: Schema.optionalKey(Schema.String),
    errors: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
    ...times,
  }),
  Schema.Struct({ kind: Schema.Literal("drop"), ...match, when: When, ...times }),
  Schema.Struct({ kind: Schema.Literal("garbage"), ...match, when: When, body: Schema.optionalKey(Schema.String), ...times }),
  Schema.Struct({ kind: Schema.Literal("delay"), ...match, ms: Schema.Number, ...times }),
  Schema.Struct({ kind: Schema.Literal("fail-task"), ...task, text: Schema.String, ...times }),
  Schema.Struct({ kind: Schema.Literal("vanish-task"), ...task, ...times }),
  Schema.Struct({ kind: Schema.Literal("silent-agent"), vmid: Schema.optionalKey(Schema.Int), ...times }),
  Schema.Struct({
    kind: Schema.Literal("fail-stage"),
    stage: Schema.optionalKey(Schema.String),
    vmid: Schema.optionalKey(Schema.Int),
    nth: Schema.optionalKey(Schema.Int),
    text: Schema.String,
    ...times,
  }),
  Schema.Struct({ kind: Schema.Literal("node-down"), node: Schema.String, ...times }),
  Schema.Struct({ kind: Schema.Literal("node-off"), node: Schema.String, ...times }),
  Schema.Struct({ kind: Schema.Literal("storage-full"), storage: Schema.String, ...times }),
  Schema.Struct({ kind: Schema.Literal("quorum-lost"), ...times }),
  Schema.Struct({ kind: Schema.Literal("network-reload-fails"), node: Schema.String, text: Schema.String, ...times }),
])

const decoded = Schema.decodeUnknownResult(AnyFault)

/** Decodes a fault from outside, or fails with 400 and the reason. */
export const decodeFault = (value: unknown): Fault => {
  const result = decoded(value)
  if (Result.isFailure(result))
    throw new PveError(400, `not a fault: ${result.failure.message.split("\n").slice(0, 3).join(" ")}`)
  return result.success
}
