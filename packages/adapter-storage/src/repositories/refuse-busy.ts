import {
  installation,
  InstallationBusy,
  RangeBusy,
  type RunSubject,
  SubjectBusy,
  subjectKey,
  subjectText,
} from "@rangewright/domain"
import * as Effect from "effect/Effect"
import type { Transaction } from "../engine/database.ts"

const unfinishedRun = (tx: Transaction, subject: RunSubject) =>
  tx((db) => db.selectFrom("runs").select(["id", "kind"]).where("busy_subject", "=", subjectKey(subject)).executeTakeFirst())

/** Fails when the subject has an unfinished run, and for a range also when the installation has one. In a transaction that runs alone. */
export const refuseBusy = (tx: Transaction, subject: RunSubject) =>
  Effect.gen(function* () {
    const other = yield* unfinishedRun(tx, subject)
    if (other !== undefined && subject.type === "range")
      return yield* new RangeBusy({ rangeId: subject.id, runId: other.id, doing: other.kind })
    if (other !== undefined) return yield* new SubjectBusy({ subject, runId: other.id, doing: other.kind })
    const over = subject.type === "range" ? yield* unfinishedRun(tx, installation) : undefined
    if (over !== undefined)
      return yield* new InstallationBusy({ doing: `change ${subjectText(subject)}`, runId: over.id, by: over.kind })
  })
