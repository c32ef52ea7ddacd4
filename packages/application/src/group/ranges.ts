import { Conflict, type Group, groupBy, mayUse, type Range } from "@rangewright/domain"
import { Groups, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { type AccessChange, changeAccess } from "../range/change-access.ts"
import { forAllAtOnce } from "../run/start-turns.ts"
import { type Outcome, reasonOf } from "../wire/bulk.ts"
import { unlessPending } from "./change-together.ts"
import type { Requester } from "./people.ts"

/** The users who are in the group. */
export const usersOfGroup = (group: Group) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const users = yield* Users
    const ids = new Set<string>((yield* groups.members(group.name)).map(({ userId }) => userId))
    return (yield* users.list).filter((user) => ids.has(user.id))
  })

const rangesById = Effect.gen(function* () {
  const ranges = yield* Ranges
  return new Map<string, Range>((yield* ranges.list()).map((range) => [range.id, range]))
})

/** The decision for one item: it is refused, there is nothing to do, or its range is added or removed. */
interface ItemDecision extends Outcome {
  readonly range: Range | undefined
}

const refuse = (item: string, refused: string): ItemDecision => ({ item, refused, range: undefined })
const alreadyHas = (group: Group, range: Range): string => `Group ${group.name} already has access to range ${range.id}`
const notFound = (item: string): ItemDecision => refuse(item, `Range ${item.slice(0, 64)} not found`)

/** Changes all ranges concurrently, each on its own: one whose router is off does not block the others. */
const changeEach = <R>(
  group: Group,
  decisions: readonly ItemDecision[],
  { caller }: Requester,
  changeOf: (range: Range) => Pick<AccessChange<R>, "doing" | "store" | "undo">,
) =>
  Effect.gen(function* () {
    const users = yield* usersOfGroup(group)
    const change = (item: string, range: Range) =>
      changeAccess({ ...changeOf(range), by: caller.id, users, ranges: [range], routers: "must" }).pipe(
        Effect.match({
          onSuccess: (): Outcome => ({ item, refused: undefined }),
          onFailure: (fault): Outcome => ({ item, refused: reasonOf(fault) }),
        }),
      )
    return yield* forAllAtOnce(decisions, ({ item, range, refused }) =>
      range === undefined ? Effect.succeed({ item, refused }) : change(item, range),
    )
  })

/**
 * Adds ranges to the group. A requester who is not an administrator can only add ranges that they own: the group's managers own them from
 * then on.
 */
export const addRanges = (group: Group, items: readonly string[], requester: Requester) =>
  Effect.gen(function* () {
    const { user } = requester
    const groups = yield* Groups
    const rangeStore = yield* Ranges
    const ranges = yield* rangesById
    const owned = new Set<string>(yield* groups.ranges(group.name))
    const grants = groupBy(yield* rangeStore.grantsOf(user.id), ({ rangeId }) => rangeId)
    const decisions = items.map((item): ItemDecision => {
      const range = ranges.get(item)
      if (range === undefined) return notFound(item)
      if (owned.has(item)) return refuse(item, alreadyHas(group, range))
      const held = grants.get(range.id) ?? []
      if (!mayUse("range-access", user, held))
        return refuse(item, `You do not have access to range ${range.id} and cannot add it to group ${group.name}`)
      if (!mayUse("range-owner", user, held))
        return refuse(item, `You do not own range ${range.id} and cannot add it to group ${group.name}`)
      return { item, refused: undefined, range }
    })
    return yield* changeEach(group, decisions, requester, (range) => ({
      doing: `add range ${range.id} to group ${group.name}`,
      // what another request gave in the meantime must not be undone if this one fails
      store: Effect.flatMap(groups.addRange(group.name, range.id), (given) =>
        given ? Effect.void : Effect.fail(new Conflict({ what: alreadyHas(group, range) })),
      ),
      undo: groups.removeRange(group.name, range.id),
    }))
  })

/** Removes ranges from the group; one that it does not have counts as removed. */
export const removeRanges = (group: Group, items: readonly string[], requester: Requester) =>
  Effect.gen(function* () {
    const groups = yield* Groups
    const ranges = yield* rangesById
    const owned = new Set<string>(yield* groups.ranges(group.name))
    const decisions = items.map((item): ItemDecision => {
      const range = ranges.get(item)
      if (range === undefined) return notFound(item)
      return { item, refused: undefined, range: owned.has(item) ? range : undefined }
    })
    const outcomes = yield* changeEach(group, decisions, requester, (range) => ({
      doing: `remove range ${range.id} from group ${group.name}`,
      store: groups.removeRange(group.name, range.id),
      undo: undefined,
    }))
    const gone = decisions.flatMap(({ item, refused, range }) => (refused === undefined && range === undefined ? [item] : []))
    const doing = `remove ranges ${gone.join(", ")} from group ${group.name}`
    return yield* unlessPending(outcomes, { doing, by: requester.caller.id, items: gone }, yield* usersOfGroup(group))
  })
