import { isRunId } from "@rangewright/domain"
import type { RunPlace } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaIssue from "effect/SchemaIssue"

/** The cursor after a page of runs, made from its last run: runs that begin later do not shift the following ones. */
export const runCursor = ({ startedAt, id }: RunPlace): string => `${startedAt.getTime()}-${id}`

const placeOf = (text: string): RunPlace | undefined => {
  const [, millis, id = ""] = /^(\d{1,15})-(.*)$/u.exec(text) ?? []
  return millis !== undefined && isRunId(id) ? { startedAt: new Date(Number(millis)), id } : undefined
}

const Place = Schema.declare(
  (value: unknown): value is RunPlace => typeof value === "object" && value !== null && "startedAt" in value,
)

/** A cursor of `runCursor` in a query. */
export const RunCursorText = Schema.String.pipe(
  Schema.decodeTo(Place, {
    decode: SchemaGetter.transformEffect((text: string, options) => {
      const place = placeOf(text)
      return place === undefined
        ? Effect.fail(
            new SchemaIssue.InvalidValue({ message: "Expected the cursor of a Link header of this list" }, text, options),
          )
        : Effect.succeed(place)
    }),
    encode: SchemaGetter.transform(runCursor),
  }),
)
