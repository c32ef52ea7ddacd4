import type { BulkAnswer } from "@rangewright/application/wire"
import { change } from "../api/client.ts"
import { requireAll } from "./refused-items.ts"

/** Changes the members or ranges of a group. The service answers for each entry: a refused one is a failure. */
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
