import type { BulkAnswer } from "@rangewright/application/wire"
import { change } from "../api/client.ts"
import { requireAll } from "./refused-items.ts"

/** Changes who or what belongs to a group. The service answers for each entry: one that it refused is no success. */
export const inGroup = async (
  method: "POST" | "DELETE",
  path: "/groups/{groupName}/users" | "/groups/{groupName}/ranges",
  groupName: string,
  body: object,
): Promise<string> => {
  const { success = [], errors } = await change<BulkAnswer>(method, path, { groupName }, body)
  requireAll(errors)
  return success.join(", ")
}
