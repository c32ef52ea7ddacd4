import { type RunSubject, subjectKey } from "@rangewright/domain"
import { SubjectTaken } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { Transaction } from "../engine/database.ts"
import { understood } from "./run-writes.ts"

/** The subject's unfinished run. In a transaction that runs alone it stays that. */
export const unfinishedRun = (tx: Transaction, subject: RunSubject) =>
  tx((db) => db.selectFrom("runs").selectAll().where("busy_subject", "=", subjectKey(subject)).executeTakeFirst())

/** A cancelled run of a range that has given its place up and has not ended yet. */
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
 * Makes room for a new run of the subject: the unfinished one that it has to wait for, if there is one. That is a cancelled run of a range,
 * which gives its place up, or has given it up to a run that is over already; any other one refuses. In a transaction that runs alone.
 */
export const makeRoom = (tx: Transaction, subject: RunSubject) =>
  Effect.gen(function* () {
    const other = yield* unfinishedRun(tx, subject)
    if (other === undefined) return (yield* settlingRun(tx, subject))?.id
    if (subject.type !== "range" || !other.cancel_requested) return yield* new SubjectTaken({ run: yield* understood(other) })
    // unfinished runs have something here; no subject is called so
    const busy_subject = `${subjectKey(subject)}#${other.id}`
    yield* tx((db) => db.updateTable("runs").set({ busy_subject }).where("id", "=", other.id).execute())
    return other.id
  })
