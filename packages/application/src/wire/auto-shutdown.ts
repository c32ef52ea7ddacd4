import type { Range } from "@rangewright/domain"
import type { RangeUse } from "../activity.ts"
import * as Schema from "effect/Schema"

/** Why a range stays on although it may be idle. */
const KeptAlive = Schema.Struct({
  kind: Schema.Literals(["run", "request", "session"]),
  /** The end of "It stays on because …". */
  text: Schema.String,
})

/** Go durations as they were given; `0` is never. Everything but `autoShutdownTimeout` is ours, and absent while no machine is on. */
export const AutoShutdown = Schema.Struct({
  autoShutdownTimeout: Schema.Struct({
    serverDefault: Schema.String,
    /** Empty: the range has no timeout of its own. */
    rangeOverride: Schema.String,
    effective: Schema.String,
  }),
  /** When the range was last used or changed. Absent while a run changes it. */
  idleSince: Schema.optionalKey(Schema.String),
  /** The request that used the range then. Absent if it was something else, or before this instance of the service was started. */
  lastUse: Schema.optionalKey(
    Schema.Struct({
      at: Schema.String,
      by: Schema.String,
      /** As `GET /range`. */
      request: Schema.String,
      /** ID of the further key that it was sent with. */
      key: Schema.optionalKey(Schema.String),
    }),
  ),
  /** The earliest time of the shutdown, unless the range is used. Absent: never. */
  stopsAt: Schema.optionalKey(Schema.String),
  keptAliveBy: Schema.Array(KeptAlive),
}).annotate({ identifier: "AutoShutdown" })

export type KeptAlive = typeof KeptAlive.Type

export interface Timer {
  readonly idleSince: Date | undefined
  readonly lastUse: RangeUse | undefined
  readonly stopsAt: Date | undefined
  readonly keptAliveBy: readonly KeptAlive[]
}

export const autoShutdown = (
  range: Pick<Range, "autoShutdown">,
  serverDefault: string,
  { idleSince, lastUse, stopsAt, keptAliveBy }: Timer,
): typeof AutoShutdown.Type => ({
  autoShutdownTimeout: {
    serverDefault,
    rangeOverride: range.autoShutdown ?? "",
    effective: range.autoShutdown ?? serverDefault,
  },
  ...(idleSince === undefined ? {} : { idleSince: idleSince.toISOString() }),
  ...(lastUse === undefined
    ? {}
    : {
        lastUse: {
          at: lastUse.at.toISOString(),
          by: lastUse.by,
          request: lastUse.request,
          ...(lastUse.keyId === undefined ? {} : { key: lastUse.keyId }),
        },
      }),
  ...(stopsAt === undefined ? {} : { stopsAt: stopsAt.toISOString() }),
  keptAliveBy,
})
