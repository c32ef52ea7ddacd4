import { pendingVpn, rangeNetwork, vpnAddress, type VpnMember } from "@rangewright/domain"
import { Ranges, VpnRecords } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"

export const getRangeWireguard = operation({
  id: "getRangeWireguard",
  route: "GET /range/wireguard",
  group: "Range",
  origin: "ours",
  does: "read who reaches a range through the VPN",
  summary:
    "Who may reach the range through the VPN, by which address, and whether its server lets them in; administrators see everybody, others only themselves. Reads only the store",
  access: "range-access",
  target: "range",
  wholeKeyOnly: true,
  output: {
    type: "json",
    schema: Schema.Struct({
      rangeID: Schema.String,
      network: Schema.String,
      users: Schema.Array(
        Schema.Struct({
          userID: Schema.String,
          address: Schema.String,
          /** The server lets this user in, to this range. */
          isLetIn: Schema.Boolean,
        }),
      ),
      /** Revoked here, but not on the server yet; for administrators. */
      revocations: Schema.Array(Schema.String),
    }).annotate({ identifier: "RangeWireguard" }),
  },
  statuses: { 200: "the users of the range" },
  handle: ({ range, user }) =>
    Effect.gen(function* () {
      const records = yield* VpnRecords
      const ranges = yield* Ranges
      const { held } = yield* records.held
      const wanted = yield* records.members
      const grants = yield* ranges.grants(range.id)
      const people = new Map(grants.map(({ userNumber, userId }) => [userNumber, userId]))
      const isLetIn = (userNumber: number): boolean => {
        const member = held.has.find((one) => one.userNumber === userNumber)
        const key = wanted.find((one) => one.userNumber === userNumber)?.publicKey
        return member !== undefined && member.publicKey === key && member.rangeNumbers.includes(range.number)
      }
      const ofRange = (members: readonly VpnMember[]): readonly VpnMember[] =>
        members.flatMap((one) =>
          one.rangeNumbers.includes(range.number) ? [{ ...one, publicKey: "", rangeNumbers: [range.number] }] : [],
        )
      const narrowed = { ...held, has: ofRange(held.has), adding: ofRange(held.adding) }
      return {
        rangeID: range.id,
        network: rangeNetwork(range.number).text,
        users: [...people]
          .filter(([, id]) => user.isAdmin || id === user.id)
          .sort(([a], [b]) => a - b)
          .map(([number, userID]) => ({ userID, address: vpnAddress(number), isLetIn: isLetIn(number) })),
        revocations: user.isAdmin ? pendingVpn(narrowed, ofRange(wanted)).revocations : [],
      }
    }),
})
