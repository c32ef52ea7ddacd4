import { Conflict, NotFound, rootUserId, type User, vpnClientFile, type VpnEndpoint, vpnKeyContext } from "@rangewright/domain"
import { Ranges, SecretStore, VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Settings } from "../settings.ts"

/** The VPN endpoint; fails if there is none, or the user cannot use it. `doing` completes "Cannot …". */
export const requireVpn = (doing: string, user: User) =>
  Effect.gen(function* () {
    const { vpn } = yield* Settings
    if (vpn === undefined)
      return yield* new NotFound({
        what: `Cannot ${doing}: this service has no VPN`,
        hint: "An administrator of the service's host enables it with wireguard_endpoint and wireguard_public_key in the configuration.",
      })
    if (user.id === rootUserId)
      return yield* new NotFound({
        what: `Cannot ${doing}: ROOT cannot use the VPN, because its address is that of the server`,
        hint: "Use the account of a person.",
      })
    return vpn
  })

/** The configuration file for a user's WireGuard client. Reads only the store. */
export const clientFileOf = (doing: string, user: User, server: VpnEndpoint) =>
  Effect.gen(function* () {
    const vpn = yield* VpnRecords
    const ranges = yield* Ranges
    const secrets = yield* SecretStore
    const key = yield* vpn.key(user.id)
    if (key === undefined)
      return yield* new Conflict({
        what: `Cannot ${doing}: user ${user.id} has no key yet`,
        hint: "The service creates it within seconds. Repeat the call.",
      })
    const grants = yield* ranges.grantsOf(user.id)
    return vpnClientFile({
      privateKey: yield* secrets.open(key.sealed, vpnKeyContext(user.id)),
      userNumber: user.number,
      rangeNumbers: grants.map(({ rangeNumber }) => rangeNumber),
      server,
    })
  })
