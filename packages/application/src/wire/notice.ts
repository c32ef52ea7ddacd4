import type { GroupNotice } from "@rangewright/domain"
import * as Schema from "effect/Schema"

/** A notice for the people of a group; `text` is plain text. */
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
