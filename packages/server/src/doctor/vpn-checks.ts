import { VpnServer } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { VpnConfig } from "../config/vpn.ts"
import { fail, type Finding, ok, warn } from "./finding.ts"

const what = "vpn"

/** Looks at the server of the VPN: its programs, its interface, its key, and its way to these ranges and back. Changes nothing. */
export const checkVpn = (
  config: VpnConfig,
  rangeNumbers: readonly number[],
): Effect.Effect<readonly Finding[], never, VpnServer> =>
  Effect.gen(function* () {
    const server = yield* VpnServer
    const { publicKey } = yield* server.observe
    if (publicKey !== config.wireguardPublicKey)
      return [
        fail(
          what,
          `the public key of ${config.wireguardInterface} is ${publicKey}, and wireguard_public_key is another one`,
          "Set wireguard_public_key to it; users have to download their files again.",
        ),
      ]
    const obstacles = yield* server.obstacles(rangeNumbers)
    const hint = "Without it clients connect and reach no machine; docs/guides/operate.md has the commands."
    return obstacles.length === 0
      ? [ok(what, `${config.wireguardInterface} is up and leads to the ranges`)]
      : obstacles.map((obstacle) => warn(what, obstacle, hint))
  }).pipe(
    Effect.catch(({ message, hint }) =>
      Effect.succeed([fail(what, message, hint ?? "Look at wireguard_server and the keys beside it.")]),
    ),
  )
