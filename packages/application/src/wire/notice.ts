import type { GroupNotice } from "@rangewright/domain"
import * as Schema from "effect/Schema"

/** What the people of a group are told; `text` is plain text. */
export const NoticeObject = Schema.Struct({
  groupName: Schema.String,
  text: Schema.String,
  by: Schema.String,
  at: Schema.String,
  until: Schema.String,
}).annotate({ identifier: "NoticeObject" })

export type NoticeObject = typeof NoticeObject.Type

export const noticeObject = ({ group, text, by, at, until }: GroupNotice): NoticeObject => ({
  groupName: group,
  text,
  by,
  at: at.toISOString(),
  until: until.toISOString(),
})
