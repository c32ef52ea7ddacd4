import { Groups, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { RecordIds } from "../wire/blueprint-record.ts"

/** The record IDs by which blueprint records name users and groups. */
export const recordIds = Effect.gen(function* () {
  const userStore = yield* Users
  const groupStore = yield* Groups
  const users = yield* userStore.list
  const groups = yield* groupStore.list()
  return {
    users: new Map(users.map(({ id, recordId }) => [id, recordId])),
    groups: new Map(groups.map(({ name, recordId }) => [name, recordId])),
  } satisfies RecordIds
})
