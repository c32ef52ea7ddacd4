import { Groups, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { RecordIds } from "../wire/blueprint-record.ts"

/** What records of blueprints call users and groups. */
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
