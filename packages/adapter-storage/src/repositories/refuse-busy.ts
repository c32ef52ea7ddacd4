import { RangeBusy, type RunId, type RunSubject, SubjectBusy, subjectKey } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type { Transaction } from "../engine/database.ts"

/** The subject's unfinished run. In a transaction that runs alone it stays that. */
export const unfinishedRun = (tx: Transaction, subject: RunSubject) =>
  tx((db) =>
    db
      .selectFrom("runs")
      .select(["id", "kind", "cancel_requested"])
      .where("busy_subject", "=", subjectKey(subject))
      .$narrowType<{ id: RunId }>()
      .executeTakeFirst(),
  )

/**
 * Makes room for a new run of the subject: the unfinished one that it has to wait for, if there is one. That is a cancelled run of a range,
 * which gives its place up; any other one refuses. In a transaction that runs alone.
 */
export const makeRoom = (tx: Transaction, subject: RunSubject) =>
  Effect.gen(function* () {
    const other = yield* unfinishedRun(tx, subject)
    if (other === undefined) return undefined
    if (subject.type !== "range") return yield* new SubjectBusy({ subject, runId: other.id, doing: other.kind })
    if (!other.cancel_requested) return yield* new RangeBusy({ rangeId: subject.id, runId: other.id, doing: other.kind })
    // unfinished runs have something here; no subject is called so
    const busy_subject = `${subjectKey(subject)}#${other.id}`
    yield* tx((db) => db.updateTable("runs").set({ busy_subject }).where("id", "=", other.id).execute())
    return other.id
  })
