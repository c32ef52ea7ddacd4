import { passwordContext, type RangeId, type Vmid } from "@rangewright/domain"
import { Machines, type SealBroken, SecretStore, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** The passwords that the service set for logins of a range's machines. For those who may use the range. */
export const machinePasswords = (
  rangeId: RangeId,
): Effect.Effect<ReadonlyMap<Vmid, string>, SealBroken | StorageFault, Machines | SecretStore> =>
  Effect.gen(function* () {
    const secrets = yield* SecretStore
    const machines = yield* Machines
    const kept = yield* machines.logins(rangeId)
    const opened = yield* Effect.forEach(kept, ([vmid, { current }]) =>
      current === undefined
        ? Effect.succeed([])
        : Effect.map(secrets.open(current, passwordContext(rangeId, vmid)), (password) => [[vmid, password] as const]),
    )
    return new Map(opened.flat())
  })
