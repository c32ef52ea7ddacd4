import { rangeTextProblems, InvalidInput, type User, type UserId } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { stillThere } from "../access/still-there.ts"
import { newRangeId, parentStays, refuseTakenId } from "../range/new-range-id.ts"
import { bringInLine, ofRange } from "../rights/in-line.ts"
import { whenInstallationIdle } from "../run/installation-gate.ts"
import { Settings } from "../settings.ts"
import { newRecordId } from "./identity.ts"

export interface RangeDraft {
  readonly id: string
  readonly number: number | undefined
  readonly name: string
  readonly description: string
  readonly purpose: string
  readonly config: string
  readonly createdBy: User | undefined
  readonly owners: readonly User[]
}

/**
 * Creates a range: its row, its pool and the rights of its owners on the pool. The first deploy creates the network. An existing pool with
 * that name belongs to somebody else and is refused. When the hypervisor fails, nothing is left behind. Waits while a run changes the whole
 * installation, and fails with `InstallationBusy` if the wait is interrupted.
 */
export const makeRange = (draft: RangeDraft, by: UserId) =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const range = yield* storeRange(draft)
    const inLine = bringInLine({ doing: `create range ${range.id}`, by, concerns: ofRange(range.id) })
    const undo = Effect.andThen(ranges.remove(range.id), inLine)
    yield* Effect.onError(inLine, () => Effect.ignore(undo))
    return range
  })

/** Stores the range; the hypervisor does not know of it yet. */
export const storeRange = (draft: RangeDraft) =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const settings = yield* Settings
    const id = yield* newRangeId(draft.id)
    const [problem, ...others] = rangeTextProblems(draft)
    if (problem !== undefined)
      return yield* new InvalidInput({
        what: `Cannot create range ${id}: ${problem.path}: ${problem.message}`,
        issues: [problem, ...others],
      })
    const people = draft.createdBy === undefined ? draft.owners : [draft.createdBy, ...draft.owners]
    yield* whenInstallationIdle(`create range ${id}`, (waited) =>
      Effect.andThen(
        refuseTakenId({ id, maker: draft.createdBy }),
        waited ? stillThere({ users: people, ranges: [] }) : Effect.void,
      ),
    )
    const range = yield* ranges.create({
      id,
      recordId: yield* newRecordId,
      number: draft.number,
      reservedNumbers: settings.reservedRangeNumbers,
      name: draft.name,
      description: draft.description,
      purpose: draft.purpose,
      config: draft.config,
      createdBy: draft.createdBy?.id,
      owners: draft.owners.map((u) => u.id),
      ...(settings.quotaDefaults === undefined ? {} : { systemLimits: settings.quotaDefaults }),
      createdAt: new Date(yield* Clock.currentTimeMillis),
    })
    // checked again: a removal of a parent range that begins later sees this range
    yield* Effect.onError(parentStays(id), () => Effect.ignore(ranges.remove(id)))
    return range
  })
