import {
  type Blueprint,
  type BlueprintAccess,
  blueprintAccess,
  type BlueprintId,
  BlueprintNotFound,
  Forbidden,
  isRecordId,
  mayChangeBlueprint,
  type User,
} from "@rangewright/domain"
import { Blueprints, Groups, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** The names of the groups that the user is in. */
export const groupsOf = (user: User) =>
  Effect.map(
    Effect.flatMap(Groups, (groups) => groups.memberships(user.id)),
    (memberships) => new Set(memberships.map(({ group }) => group.name)),
  )

/** Finds by blueprint ID, else by record ID. */
const lookUp = (id: string) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const found = yield* blueprints.find(id as BlueprintId)
    if (found !== undefined) return found
    const recorded = isRecordId(id) ? yield* blueprints.findByRecordId(id) : undefined
    return recorded ?? (yield* new BlueprintNotFound({ blueprint: id.slice(0, 255) }))
  })

const found = Effect.fnUntraced(function* (
  id: string,
  user: User,
): Effect.fn.Return<
  { readonly blueprint: Blueprint; readonly access: BlueprintAccess | undefined },
  BlueprintNotFound | StorageFault,
  Blueprints | Groups
> {
  const blueprint = yield* lookUp(id)
  return { blueprint, access: blueprintAccess(blueprint, user, yield* groupsOf(user)) }
})

/** The blueprint, for a user who may read it: its owner, those it is shared with, administrators. */
export const readableBlueprint = Effect.fnUntraced(function* (
  id: string,
  user: User,
): Effect.fn.Return<Blueprint, BlueprintNotFound | Forbidden | StorageFault, Blueprints | Groups> {
  const { blueprint, access } = yield* found(id, user)
  if (access !== undefined) return blueprint
  return yield* new Forbidden({
    // names it as the caller did: a record ID must not reveal the blueprint's ID
    reason: `You do not have access to blueprint ${id}`,
    hint: "Ask its owner or an administrator to have it shared with you.",
  })
})

/** The blueprint, for its owner and administrators. `doing` completes "cannot … it". */
export const ownBlueprint = Effect.fnUntraced(function* (
  id: string,
  user: User,
  doing: "change" | "delete",
): Effect.fn.Return<Blueprint, BlueprintNotFound | Forbidden | StorageFault, Blueprints | Groups> {
  const { blueprint, access } = yield* found(id, user)
  if (mayChangeBlueprint(access)) return blueprint
  return yield* new Forbidden({
    reason: `You do not own this blueprint and cannot ${doing} it: ${access === undefined ? id : blueprint.id}`,
    hint: access === undefined ? "Ask its owner or an administrator." : "Make a copy of your own: POST /blueprints/{id}/copy.",
  })
})

/** The configuration of a blueprint; it may have been deleted meanwhile. */
export const blueprintConfig = (blueprint: Blueprint) =>
  Effect.gen(function* () {
    const blueprints = yield* Blueprints
    const text = yield* blueprints.config(blueprint.id)
    return text ?? (yield* new BlueprintNotFound({ blueprint: blueprint.id }))
  })
