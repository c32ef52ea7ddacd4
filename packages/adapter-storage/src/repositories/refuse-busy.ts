import { type RunSubject, subjectKey } from "@rangewright/domain"
import { SubjectTaken } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Transaction } from "../engine/transaction.ts"
import { decodedRun } from "./run-writes.ts"

/** The subject's unfinished run. Inside a serialized write it cannot change. */
export const unfinishedRun = (tx: Transaction, subject: RunSubject) =>
  tx((db) => db.selectFrom("runs").selectAll().where("busy_subject", "=", subjectKey(subject)).executeTakeFirst())

/** A cancelled run of a range that has given way and is not finished yet. */
const settlingRun = (tx: Transaction, subject: RunSubject) =>
  tx((db) =>
    db
      .selectFrom("runs")
      .select("id")
      .where("subject", "=", subjectKey(subject))
      .where("busy_subject", "is not", null)
      .executeTakeFirst(),
  )

/**
 * Makes room for a new run of the subject. Returns the unfinished run that it must wait for, if any: a cancelled run of a range, which
 * gives way. Fails for any other unfinished run. For serialized writes.
 */
export const makeRoom = (tx: Transaction, subject: RunSubject) =>
  Effect.gen(function* () {
    const other = yield* unfinishedRun(tx, subject)
    if (other === undefined) return (yield* settlingRun(tx, subject))?.id
    if (subject.type !== "range" || !other.cancel_requested) return yield* new SubjectTaken({ run: yield* decodedRun(other) })
    // must not be null while the run is unfinished; no subject has such a key
    const busy_subject = `${subjectKey(subject)}#${other.id}`
    yield* tx((db) => db.updateTable("runs").set({ busy_subject }).where("id", "=", other.id).execute())
    return other.id
  })
