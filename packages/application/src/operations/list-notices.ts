import { Groups } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { noticeObject, NoticeObject } from "../wire/notice.ts"

export const listNotices = operation({
  id: "listNotices",
  route: "GET /notices",
  group: "Group",
  origin: "ours",
  does: "list notices",
  summary: "The current notices of the user's groups",
  access: "user",
  accessNote: "administrators see those of all groups",
  target: "none",
  output: { type: "json", schema: Schema.Array(NoticeObject) },
  statuses: { 200: "notices that are not over, ascending by group" },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const groups = yield* Groups
      const now = yield* Clock.currentTimeMillis
      const notices = yield* groups.notices(user.isAdmin ? {} : { for: user.id })
      return notices.filter(({ until }) => until.getTime() > now).map(noticeObject)
    }),
})
