import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { clientFileOf, requireVpn } from "../vpn/client-file.ts"
import { WireGuardConfig } from "../wire/vpn.ts"

const doing = "make a WireGuard configuration"

/** A GET that is audited like a change, to record who read the private key of a user. */
export const getWireguardConfig = operation({
  id: "getWireguardConfig",
  route: "GET /user/wireguard",
  group: "User",
  does: doing,
  summary: "The file for the user's WireGuard client, with the private key and the networks of all ranges that the user may use",
  access: "user",
  target: "none",
  wholeKeyOnly: true,
  mutates: true,
  recordedFirst: true,
  query: { userID: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: WireGuardConfig },
  statuses: {
    200: "the file, ready for WireGuard",
    404: "the service has no VPN, or the user is ROOT",
    409: "the user has no key yet",
    502: "the stored key cannot be read",
  },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const server = yield* requireVpn(doing, user)
      return { result: { wireGuardConfig: yield* clientFileOf(doing, user, server) } }
    }),
})
