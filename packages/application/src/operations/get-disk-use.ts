import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { hostFailures } from "../ansible/installed.ts"
import { diskReport } from "../disk/disk-report.ts"
import { diskLimit } from "../disk/kept.ts"
import { operation } from "../operation/operation.ts"
import { Settings } from "../settings.ts"
import { DiskUse } from "../wire/disk.ts"

export const getDiskUse = operation({
  id: "getDiskUse",
  route: "GET /user/disk",
  group: "Quota",
  origin: "ours",
  does: "read what the user keeps on the service's host",
  summary:
    "Disk space that the user takes on the service's host, the limit, and what takes it: blueprints, sources, roles, collections, templates, pictures of ranges",
  access: "user",
  target: "none",
  query: { userID: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: DiskUse },
  statuses: { 200: "what the user keeps", 500: "it cannot be counted" },
  handle: ({ user }) =>
    Effect.gen(function* () {
      const { usedBytes, parts } = yield* hostFailures(diskReport(user.id))
      return { limitBytes: diskLimit(yield* Settings, user), usedBytes, things: parts }
    }),
})
