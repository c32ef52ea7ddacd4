import type { Invites } from "@rangewright/application/wire"
import { change, Refusal } from "../../api/client.ts"

/** A link for each of these users, with which they set their password once. */
export const invite = async (userIDs: readonly string[]): Promise<NonNullable<Invites["invites"]>> => {
  const { invites = [], errors = [] } = await change<Invites>("POST", "/user/invites", {}, { userIDs })
  if (errors.length > 0) throw new Refusal(0, errors.map(({ item, reason }) => `${item}: ${reason}`).join("\n"))
  return invites.map((one) => ({ ...one, address: `${location.origin}${one.address}` }))
}
