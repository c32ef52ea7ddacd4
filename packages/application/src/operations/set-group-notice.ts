import { InvalidInput, isShownText, parseDuration } from "@rangewright/domain"
import { Groups } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { noticeObject, NoticeObject } from "../wire/notice.ts"

const hour = 3_600_000
const mostHours = 7 * 24
const mostCharacters = 500
/** Why a text cannot be a notice; undefined: it can. */
const fault = (text: string): string | undefined => {
  if (text === "") return "its text is empty"
  if ([...text].length > mostCharacters) return "its text is too long"
  return isShownText(text) ? undefined : "its text has control characters"
}

export const setGroupNotice = operation({
  id: "setGroupNotice",
  route: "PUT /groups/{groupName}/notice",
  group: "Group",
  origin: "ours",
  does: "put up a notice for a group",
  summary: "Put up a notice for the people of a group for some time; it replaces the previous one",
  access: "group-manager",
  accessNote: "managers of the group and administrators",
  target: "group-in-path",
  path: { groupName: Schema.String },
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({ text: Schema.String, duration: Schema.optionalKey(Schema.String) }),
  },
  audited: ["text", "duration"],
  output: { type: "json", schema: NoticeObject },
  statuses: {
    200: "the notice; `duration` is an hour where it is omitted",
    400: `text is empty, too long or not plain text; duration is not one of at most ${mostHours} hours; the body is malformed`,
  },
  handle: ({ group, body, caller }) =>
    Effect.gen(function* () {
      const doing = `Cannot put up a notice for group ${group.name}`
      const text = body.text.replaceAll("\r\n", "\n").trim()
      const because = fault(text)
      if (because !== undefined)
        return yield* new InvalidInput({
          what: `${doing}: ${because}`,
          hint: `Write 1 to ${mostCharacters} characters of plain text.`,
        })
      const millis = parseDuration((body.duration ?? "1h").trim())
      if (millis === undefined || millis === 0 || millis > mostHours * hour)
        return yield* new InvalidInput({
          what: `${doing}: ${JSON.stringify(body.duration?.slice(0, 100))} is not a duration of at most ${mostHours} hours`,
          hint: "Write hours and minutes such as 2h or 1h30m.",
        })
      const groups = yield* Groups
      const at = yield* Clock.currentTimeMillis
      const notice = { group: group.name, text, by: caller.id, at: new Date(at), until: new Date(at + Math.ceil(millis)) }
      yield* groups.setNotice(notice)
      return noticeObject(notice)
    }),
})
