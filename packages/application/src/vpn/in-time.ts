import { StorageFault, VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"

const patienceSeconds = 10

/** The store for work that must continue when the store hangs: a call without an answer in time fails, and can be repeated. */
export const vpnRecordsInTime = Effect.map(VpnRecords, (records): VpnRecords["Service"] => {
  const inTime = <A, E>(doing: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E | StorageFault> =>
    Effect.timeoutOrElse(effect, {
      duration: patienceSeconds * 1000,
      orElse: () => Effect.fail(new StorageFault({ doing, because: `no answer within ${patienceSeconds} s` })),
    })
  return {
    key: (user) => inTime("read a VPN key", records.key(user)),
    keyless: inTime("find users without a VPN key", records.keyless),
    giveKey: (user, key) => inTime(`create a VPN key for user ${user}`, records.giveKey(user, key)),
    replaceKey: (user, key) => inTime(`replace the VPN key of user ${user}`, records.replaceKey(user, key)),
    members: inTime("read who may use the VPN", records.members),
    held: inTime("read what the VPN's server has", records.held),
    hold: (held, version) => inTime("store what the VPN's server has", records.hold(held, version)),
  }
})
