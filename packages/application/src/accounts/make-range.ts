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
 * Makes a range: its row, its pool and the rights of its owners on the pool. The network is made by the first deploy. A pool of that
 * name that was there before is somebody else's and refused. When the hypervisor fails, nothing is left behind.
 * While a run changes the whole installation it waits for that one's end, and fails with `InstallationBusy` when it cannot.
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

/** The range as it is stored before the hypervisor knows of it. */
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
    // a removal of what lies above that begins later sees it
    yield* Effect.onError(parentStays(id), () => Effect.ignore(ranges.remove(id)))
    return range
  })
