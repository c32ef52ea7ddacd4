import type { Invites } from "@rangewright/application/wire"
import { change } from "../../api/client.ts"
import { requireAll } from "../../parts/refused-items.ts"

/** Creates a link for each of these users, with which they set their password once. */
export const invite = async (userIDs: readonly string[]): Promise<NonNullable<Invites["invites"]>> => {
  const { invites = [], errors } = await change<Invites>("POST", "/user/invites", {}, { userIDs })
  requireAll(errors)
  return invites.map((one) => ({ ...one, address: `${location.origin}${one.address}` }))
}
