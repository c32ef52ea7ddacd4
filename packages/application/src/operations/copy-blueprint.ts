import { type Blueprint, BlueprintExists, Conflict, copyIdOf, type User } from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { blueprintConfig, readableBlueprint } from "../blueprint/find-blueprint.ts"
import { type BlueprintContent, freeBlueprintId, makeBlueprint } from "../blueprint/make-blueprint.ts"
import { inOwnTurn } from "../operation/long-work.ts"
import { operation } from "../operation/operation.ts"
import { BlueprintCreated } from "../wire/blueprint.ts"
import { blueprintStatuses, diskLimitReached } from "../wire/statuses.ts"

/**
 * Concurrent copies of different users may choose the same free ID: the later ones choose again, this often. Those of one user take turns.
 */
const choices = 10

/** The whole content of the original. The copy has no source: it is the user's own. */
const contentOf = (original: Blueprint) =>
  Effect.gen(function* () {
    const { requirements, thumbnail } = yield* Blueprints
    const { id, recordId, bundle } = original
    return {
      config: yield* blueprintConfig(original),
      requirements: yield* requirements(id),
      bundle,
      thumbnail: original.thumbnail === undefined ? undefined : yield* thumbnail(recordId, original.thumbnail),
    } satisfies BlueprintContent
  })

/** Copies under the requested ID, or else the next free one. */
const copyUnder = (original: Blueprint, id: string | undefined, text: Pick<Blueprint, "name" | "description">, user: User) =>
  Effect.gen(function* () {
    const content = yield* contentOf(original)
    const said = { ...original, ...text }
    if (id !== undefined) return yield* makeBlueprint(yield* freeBlueprintId(id), said, content, user)
    const choose = Effect.gen(function* () {
      const blueprints = yield* Blueprints
      const taken = new Set<string>((yield* blueprints.list()).map((blueprint) => blueprint.id))
      return yield* makeBlueprint(copyIdOf(original.id, taken), said, content, user)
    })
    return yield* inOwnTurn(Effect.retry(choose, { times: choices, while: (fault) => fault instanceof BlueprintExists }))
  }).pipe(
    Effect.catchTag("ContentFault", (fault) =>
      Effect.fail(
        new Conflict({
          what: `Cannot copy blueprint ${original.id}: its files cannot be fetched: ${fault.message}`,
          hint: "Install it again from its source, or import it again.",
        }),
      ),
    ),
  )

export const copyBlueprint = operation({
  id: "copyBlueprint",
  route: "POST /blueprints/{blueprintID}/copy",
  group: "Blueprint",
  does: "copy a blueprint",
  summary: "Make your own copy of a blueprint with all its files, shared with nobody",
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
    403: `${blueprintStatuses[403]}; ${diskLimitReached}`,
    400: "the new ID or a member is not allowed; the body is malformed",
    409: "the new ID is in use; the files of the original are gone",
  },
  handle: ({ path, body = {}, user }) =>
    Effect.gen(function* () {
      const original = yield* readableBlueprint(path.blueprintID, user)
      // clients send an empty text for what their user left out; the longest names leave no room for this suffix
      const name = body.name || `${original.name.slice(0, 240)} (Copy)`
      const text = { name, description: body.description || original.description }
      const { id } = yield* copyUnder(original, body.blueprintID || undefined, text, user)
      return { result: `Blueprint ${original.id} copied to ${id}`, blueprintID: id }
    }),
})
