import { type Blueprint, BlueprintExists, copyIdOf, type User } from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { blueprintConfig, readableBlueprint } from "../blueprint/find-blueprint.ts"
import { freeBlueprintId, makeBlueprint } from "../blueprint/make-blueprint.ts"
import { operation } from "../operation/operation.ts"
import { BlueprintCreated } from "../wire/blueprint.ts"
import { blueprintStatuses } from "../wire/statuses.ts"

/** Copies that are made at the same moment may choose the same free id: the later ones choose again, this often. */
const choices = 10

/** Under the id that was asked for, or else under the next free one. */
const copyUnder = (original: Blueprint, id: string | undefined, text: Pick<Blueprint, "name" | "description">, user: User) =>
  Effect.gen(function* () {
    const config = yield* blueprintConfig(original)
    const { recordId, thumbnail } = original
    const picture = thumbnail === undefined ? undefined : yield* (yield* Blueprints).thumbnail(recordId, thumbnail)
    const said = { ...original, ...text }
    if (id !== undefined) return yield* makeBlueprint(yield* freeBlueprintId(id), said, config, user, picture)
    const choose = Effect.gen(function* () {
      const taken = new Set<string>((yield* (yield* Blueprints).list()).map((blueprint) => blueprint.id))
      return yield* makeBlueprint(copyIdOf(original.id, taken), said, config, user, picture)
    })
    return yield* Effect.retry(choose, { times: choices, while: (fault) => fault instanceof BlueprintExists })
  })

export const copyBlueprint = operation({
  id: "copyBlueprint",
  route: "POST /blueprints/{blueprintID}/copy",
  group: "Blueprint",
  summary: "Make an own copy of a blueprint, shared with nobody",
  access: "user",
  accessNote: "its owner, those it is shared with, and administrators",
  target: "none",
  path: { blueprintID: Schema.String },
  body: {
    type: "json",
    required: false,
    schema: Schema.Struct({
      blueprintID: Schema.optionalKey(Schema.String),
      name: Schema.optionalKey(Schema.String),
      description: Schema.optionalKey(Schema.String),
    }),
  },
  output: { type: "json", schema: BlueprintCreated, status: 201 },
  statuses: {
    201: "the copy was made",
    ...blueprintStatuses,
    400: "the new ID or a member is not allowed; the body is malformed; userID names an unknown user",
    409: "the new ID is in use",
  },
  handle: ({ path, body = {}, user }) =>
    Effect.gen(function* () {
      const original = yield* readableBlueprint(path.blueprintID, user)
      // the longest names leave no room for this ending
      const name = body.name ?? `${original.name.slice(0, 240)} (Copy)`
      const text = { name, description: body.description ?? original.description }
      const { id } = yield* copyUnder(original, body.blueprintID, text, user)
      return { result: `Blueprint ${original.id} copied to ${id}`, blueprintID: id }
    }),
})
