import { type Fault, InvalidInput } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The outcomes of the items of one request; an empty list is left out. */
export const BulkResult = Schema.Struct({
  success: Schema.optionalKey(Schema.Array(Schema.String)),
  errors: Schema.optionalKey(Schema.Array(Schema.Struct({ item: Schema.String, reason: Schema.String }))),
}).annotate({ identifier: "BulkResult" })

/** The runs that one request started, each in its own range. */
export const ChangeManyResult = Schema.Struct({
  /** They continue whether or not anybody waits for them. */
  started: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        rangeID: Schema.String,
        runID: Schema.String,
        /** The run that it waits for. */
        blockedBy: Schema.optionalKey(Schema.String),
      }),
    ),
  ),
  errors: BulkResult.fields.errors,
}).annotate({ identifier: "ChangeManyResult" })

/** Links for users to set their password once. */
export const InvitesResult = Schema.Struct({
  invites: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        userID: Schema.String,
        name: Schema.String,
        email: Schema.String,
        /** Address of the page, relative to where browsers reach the service. Anybody who has it can sign in as the user: a secret. */
        address: Schema.String,
        endsAt: Schema.String,
      }),
    ),
  ),
  errors: BulkResult.fields.errors,
}).annotate({ identifier: "InvitesResult" })

/** The outcome of one item; `refused`: why nothing was done. */
export interface Outcome {
  readonly item: string
  readonly refused: string | undefined
}

/** In the order of the request. */
export const bulkResult = (outcomes: readonly Outcome[]): typeof BulkResult.Type => {
  const success = outcomes.flatMap(({ item, refused }) => (refused === undefined ? [item] : []))
  const errors = outcomes.flatMap(({ item, refused }) => (refused === undefined ? [] : [{ item, reason: refused }]))
  return { ...(success.length === 0 ? {} : { success }), ...(errors.length === 0 ? {} : { errors }) }
}

/** A fault as the reason for an item, which has no separate member for the hint. */
export const reasonOf = (fault: Fault): string => (fault.hint === undefined ? fault.message : `${fault.message}. ${fault.hint}`)

/** Most items in one request; each costs a query to the store, and an entry in the answer. */
const mostItems = 10_000

/** The items, trimmed and without duplicates. Clients send what people typed between commas, possibly nothing. */
export const itemsOf = (
  doing: string,
  field: string,
  sent: readonly string[],
): Effect.Effect<readonly string[], InvalidInput> => {
  const refused = (what: string, message: string) =>
    Effect.fail(new InvalidInput({ what: `Cannot ${doing}: ${field} names ${what}`, issues: [{ path: field, message }] }))
  if (sent.length === 0) return refused("nothing", "at least one is needed")
  if (sent.length > mostItems) return refused(`${sent.length} items`, `at most ${mostItems} in one request`)
  return Effect.succeed([...new Set(sent.map((item) => item.trim()))])
}
