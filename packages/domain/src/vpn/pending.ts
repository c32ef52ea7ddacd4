import { rangeNetwork, vpnAddress } from "../network/addressing.ts"
import type { HeldVpn, VpnMember } from "./model.ts"

/** The peers and pairs that the server has of users, or should have. */
const partsOf = (members: readonly VpnMember[]): ReadonlyMap<string, string> =>
  new Map(
    members.flatMap(({ userNumber, publicKey, rangeNumbers }) => {
      const who = `${vpnAddress(userNumber)}`
      return [
        ...(publicKey === "" ? [] : [[`${who} ${publicKey}`, `${who} with the key ${publicKey}`] as const]),
        ...rangeNumbers.map((number) => [`${who} ${number}`, `${who} to ${rangeNetwork(number).text}`] as const),
      ]
    }),
  )

/** Changes that the server does not have yet, for display. */
export const pendingVpn = (
  { has, adding }: HeldVpn,
  wanted: readonly VpnMember[],
): { readonly revocations: readonly string[]; readonly grants: readonly string[] } => {
  const [there, may, should] = [partsOf(has), partsOf([...has, ...adding]), partsOf(wanted)]
  const without = (from: ReadonlyMap<string, string>, others: ReadonlyMap<string, string>) =>
    [...from].filter(([key]) => !others.has(key)).map(([, text]) => text)
  return { revocations: without(may, should), grants: without(should, there) }
}
