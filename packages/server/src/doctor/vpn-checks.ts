import { type HeldVpn, keysKnownToVpn, planVpn, type VpnMember } from "@rangewright/domain"
import { VpnServer } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { VpnConfig } from "../config/vpn.ts"
import { fail, type Finding, ok, warn } from "./finding.ts"

const what = "vpn"

/** Stored state; `wanted` and `held` are absent when they cannot be read. */
export interface StoredForVpn {
  readonly rangeNumbers: readonly number[]
  readonly wanted?: readonly VpnMember[]
  readonly held?: HeldVpn
}

/** Checks the VPN server: its programs, interface, key, peers, and the routes to ranges and back. Changes nothing. */
export const checkVpn = (
  config: VpnConfig,
  { rangeNumbers, wanted, held }: StoredForVpn,
): Effect.Effect<readonly Finding[], never, VpnServer> =>
  Effect.gen(function* () {
    const server = yield* VpnServer
    const observed = yield* server.observe
    const { publicKey, whyNoPairs } = observed
    if (publicKey !== config.wireguardPublicKey)
      return [
        fail(
          what,
          `the public key of ${config.wireguardInterface} is ${publicKey}, but wireguard_public_key is a different one`,
          "Set wireguard_public_key to it; users then have to download their files again.",
        ),
      ]
    const obstacles = yield* server.obstacles(rangeNumbers)
    const hint = "Without it, clients connect but cannot reach any machine; docs/guides/operate.md has the commands."
    const taken = wanted === undefined || held === undefined ? [] : planVpn(wanted, observed, keysKnownToVpn(held)).taken
    return [
      ...(whyNoPairs === undefined ? [] : [fail(what, whyNoPairs.message, whyNoPairs.hint ?? "Check nft on the VPN's host.")]),
      ...taken.map((one) =>
        warn(
          what,
          `at its next check, ${one}`,
          "To keep the peer, give it addresses other than 198.51.100.2 to .150, or another interface.",
        ),
      ),
      ...(obstacles.length === 0
        ? [ok(what, `${config.wireguardInterface} is up and has routes to the ranges`)]
        : obstacles.map((obstacle) => warn(what, obstacle, hint))),
    ]
  }).pipe(
    Effect.catch(({ message, hint }) =>
      Effect.succeed([fail(what, message, hint ?? "Check wireguard_server and the keys that go with it.")]),
    ),
  )
