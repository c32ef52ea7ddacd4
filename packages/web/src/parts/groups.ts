import type { BulkAnswer } from "@rangewright/application/wire"
import { change, Refusal } from "../api/client.ts"

/** Changes who or what belongs to a group. The service answers for each entry: one that it refused is no success. */
export const inGroup = async (
  method: "POST" | "DELETE",
  path: "/groups/{groupName}/users" | "/groups/{groupName}/ranges",
  groupName: string,
  body: object,
): Promise<string> => {
  const { success = [], errors = [] } = await change<BulkAnswer>(method, path, { groupName }, body)
  if (errors.length > 0) throw new Refusal(409, errors.map(({ item, reason }) => `${item}: ${reason}`).join("\n"))
  return success.join(", ")
}
