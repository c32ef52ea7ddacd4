import {
  type Blueprint,
  exampleRangeConfig,
  Failed,
  Forbidden,
  InvalidInput,
  type Range,
  type User,
  type UserId,
  howTo,
} from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { makeRange } from "../accounts/make-range.ts"
import { blueprintConfig, readableBlueprint } from "../blueprint/find-blueprint.ts"
import { operation } from "../operation/operation.ts"
import { storeConfig } from "../range/store-config.ts"
import { TextResult } from "../wire/common.ts"
import { hypervisorAway, waitCutShort } from "../wire/statuses.ts"

/** What the stock command line sends for "nobody", unless a user has that ID. */
const nobody = "none"

/** The owners of the range. A plain user who names nobody becomes its owner; an administrator needs no grant. */
const ownersOf = (wanted: readonly string[], user: User) =>
  Effect.gen(function* () {
    const users = yield* Users
    const ids = [...new Set(wanted.map((id) => id.trim()).filter((id) => id !== ""))]
    const found = yield* Effect.forEach(ids, (id) => Effect.map(users.find(id as UserId), (owner) => ({ id, owner })))
    const meansNobody = ids.length === 1 && ids[0] === nobody && found[0]?.owner === undefined
    if (!user.isAdmin && ids.some((id) => id !== user.id))
      return yield* new Forbidden({
        reason: `Cannot create a range for ${ids.join(", ")}: only administrators may give ranges to others`,
        hint: `Leave userID out, or name ${user.id} alone.`,
      })
    if (ids.length === 0) return user.isAdmin ? [] : [user]
    if (meansNobody) return []
    const unknown = found.flatMap(({ id, owner }) => (owner === undefined ? [id] : []))
    if (unknown.length > 0)
      return yield* new InvalidInput({
        what: `Cannot create the range: ${unknown.length === 1 ? "user" : "users"} ${unknown.join(", ")} not found`,
        issues: unknown.map((id) => ({ path: "userID", message: `no user has the ID ${id}` })),
      })
    return found.flatMap(({ owner }) => (owner === undefined ? [] : [owner]))
  })

/** Applies the blueprint. The range stays if the blueprint does not fit it: applying can be repeated. */
const applyTo = (range: Range, blueprint: Blueprint, user: User) =>
  storeConfig({ range, user, force: false, text: blueprintConfig(blueprint) }).pipe(
    Effect.map((lines) => [`Blueprint ${blueprint.id} applied`, ...lines]),
    Effect.mapError(
      (fault) =>
        new Failed({
          what: `Range ${range.id} created with number ${range.number}, but blueprint ${blueprint.id} could not be applied: ${fault.message}`,
          hint: `Fix what is reported, then apply it: ${howTo("POST /blueprints/{blueprintID}/apply", { blueprintID: blueprint.id })}; until then the range has the example configuration.`,
        }),
    ),
  )

export const createRange = operation({
  id: "createRange",
  route: "POST /ranges/create",
  group: "Range",
  does: "create a range",
  summary: "Create a range with its pool and the rights of its users",
  access: "user",
  accessNote: "any user for itself, administrators for others",
  target: "none",
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      name: Schema.String,
      rangeID: Schema.String,
      description: Schema.optionalKey(Schema.String),
      purpose: Schema.optionalKey(Schema.String),
      userID: Schema.optionalKey(Schema.Array(Schema.String)),
      rangeNumber: Schema.optionalKey(Schema.Int),
      blueprintID: Schema.optionalKey(Schema.String),
    }),
  },
  audited: ["rangeID", "userID"],
  output: { type: "json", schema: TextResult, status: 201 },
  statuses: {
    201: "the range was created; the text names it",
    400: "the range ID or the name is missing; the body is malformed",
    403: "only administrators give ranges to others; the blueprint is not shared with the caller; the quota of the first owner allows no more ranges",
    404: "no blueprint has this ID",
    409: `the range ID is not allowed, reserved, taken (in any letter case) or below a range that the caller does not own; the number is out of bounds, reserved or taken; the pool belongs to somebody else; ${waitCutShort}`,
    500: "the range was created, but the blueprint could not be applied; try to apply it again",
    502: hypervisorAway,
  },
  handle: ({ body, user, caller }) =>
    Effect.gen(function* () {
      const owners = yield* ownersOf(body.userID ?? [], user)
      const wanted = body.blueprintID ?? ""
      const blueprint = wanted === "" ? undefined : yield* readableBlueprint(wanted, user)
      if (body.rangeID === "") return yield* new InvalidInput({ what: "Cannot create the range: a range ID is needed" })
      const range = yield* makeRange(
        {
          id: body.rangeID,
          // 0 requests the lowest free number
          number: body.rangeNumber === 0 ? undefined : body.rangeNumber,
          name: body.name,
          description: body.description ?? "",
          purpose: body.purpose ?? "",
          config: exampleRangeConfig,
          createdBy: user,
          owners,
        },
        caller.id,
      )
      const created = `Range ${range.id} created with number ${range.number}`
      return { result: [created, ...(blueprint === undefined ? [] : yield* applyTo(range, blueprint, user))].join("\n") }
    }),
})
