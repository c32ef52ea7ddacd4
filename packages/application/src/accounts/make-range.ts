import { rangeTextProblems, InvalidInput, type Fault, type Range, type User } from "@rangewright/domain"
import { CredentialHasher, HypervisorAccess, Ranges, type RunJournal, type Users } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { stillThere } from "../access/still-there.ts"
import { newRangeId, parentStays, refuseTakenId } from "../range/new-range-id.ts"
import { onceAtRest } from "../run/installation-gate.ts"
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

const accountOf = (user: User) => ({ username: user.hypervisorUsername, realm: user.hypervisorRealm })

/**
 * Makes a range: its row, its pool and the rights of its owners on the pool. The network is made by the first deploy. A pool of that
 * name that was there before is somebody else's and refused. When the hypervisor fails, nothing is left behind.
 * While a run changes the whole installation it waits for that one's end, and fails with `InstallationBusy` when it cannot.
 */
export const makeRange = (
  draft: RangeDraft,
): Effect.Effect<Range, Fault, Ranges | Users | HypervisorAccess | RunJournal | Settings | CredentialHasher> =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const access = yield* HypervisorAccess
    const settings = yield* Settings
    const id = yield* newRangeId(draft.id)
    const [problem, ...others] = rangeTextProblems(draft)
    if (problem !== undefined)
      return yield* Effect.fail(
        new InvalidInput({
          what: `Cannot create range ${id}: ${problem.path}: ${problem.message}`,
          issues: [problem, ...others],
        }),
      )
    const people = draft.createdBy === undefined ? draft.owners : [draft.createdBy, ...draft.owners]
    yield* onceAtRest(`create range ${id}`, (waited) =>
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
      createdAt: new Date(yield* Clock.currentTimeMillis),
    })
    const provision = parentStays(id).pipe(
      Effect.andThen(access.ensurePool(id)),
      Effect.andThen(access.grant(id, draft.owners.map(accountOf), undefined)),
    )
    const undo = access.removePool(id).pipe(Effect.ignore, Effect.andThen(ranges.remove(id)), Effect.ignore)
    yield* provision.pipe(Effect.onError(() => undo))
    return range
  })
