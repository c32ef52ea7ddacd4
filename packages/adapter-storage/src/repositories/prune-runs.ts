import { subjectKey } from "@rangewright/domain"
import type { RunsOfAKind } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Transaction } from "../engine/transaction.ts"

/** Runs deleted at once; any more are deleted the next time. */
const mostAtOnce = 1000

/** Deletes all but the newest `keep` finished runs of this kind and subject, with their journals; returns how many. */
export const pruneRuns = (tx: Transaction, { subject, kind }: RunsOfAKind, keep: number) =>
  Effect.gen(function* () {
    const old = yield* tx((db) =>
      db
        .selectFrom("runs")
        .select("id")
        .where("subject", "=", subjectKey(subject))
        .where("kind", "=", kind)
        .where("busy_subject", "is", null)
        .orderBy("ordinal", "desc")
        .limit(mostAtOnce)
        .offset(keep)
        .execute(),
    )
    for (const { id } of old) yield* tx((db) => db.deleteFrom("runs").where("id", "=", id).execute())
    return old.length
  })
