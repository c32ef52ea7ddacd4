import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { clientFileOf, requireVpn } from "../vpn/client-file.ts"
import { replaceVpnKey } from "../vpn/keys.ts"
import { WireGuardConfig } from "../wire/vpn.ts"

const doing = "replace a WireGuard key"

export const rotateWireguardKey = operation({
  id: "rotateWireguardKey",
  route: "POST /user/wireguard/rotate",
  group: "User",
  origin: "ours",
  does: doing,
  summary: "Replace the user's WireGuard key; the old file stops working",
  access: "user",
  target: "none",
  wholeKeyOnly: true,
  query: { userID: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: WireGuardConfig },
  statuses: {
    200: "the new file",
    404: "the service has no VPN, or the user is ROOT",
    409: "the user has no key yet",
    502: "the stored key cannot be read",
  },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const server = yield* requireVpn(doing, user)
      yield* replaceVpnKey(user.id)
      return { result: { wireGuardConfig: yield* clientFileOf(doing, user, server) } }
    }),
})
