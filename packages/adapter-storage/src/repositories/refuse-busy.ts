import { RangeBusy, type RunId, type RunSubject, SubjectBusy, subjectKey } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type { Transaction } from "../engine/database.ts"

/** The subject's unfinished run. In a transaction that runs alone it stays that. */
export const unfinishedRun = (tx: Transaction, subject: RunSubject) =>
  tx((db) =>
    db
      .selectFrom("runs")
      .select(["id", "kind"])
      .where("busy_subject", "=", subjectKey(subject))
      .$narrowType<{ id: RunId }>()
      .executeTakeFirst(),
  )

/** Fails when the subject has an unfinished run. In a transaction that runs alone. */
export const refuseBusy = (tx: Transaction, subject: RunSubject) =>
  Effect.gen(function* () {
    const other = yield* unfinishedRun(tx, subject)
    if (other === undefined) return
    if (subject.type === "range") return yield* new RangeBusy({ rangeId: subject.id, runId: other.id, doing: other.kind })
    return yield* new SubjectBusy({ subject, runId: other.id, doing: other.kind })
  })
