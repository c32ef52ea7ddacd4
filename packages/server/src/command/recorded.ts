import { audited } from "@rangewright/application"
import type { Fault } from "@rangewright/domain"
import type { AuditTrail, StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { userInfo } from "node:os"

/** The system account that ran the command; a container may run under a uid without a name. */
const account = (): string => {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? "")
  }
}

/** Records changes of a command in the audit trail like those of an operation: under the command's name, without a caller. */
export const recorded = <A, E extends Fault, R>(
  command: string,
  work: Effect.Effect<A, E, R>,
): Effect.Effect<A, E | StorageFault, R | AuditTrail> =>
  audited(
    randomUUID(),
    () => ({
      requestId: "",
      callerId: undefined,
      actingAs: undefined,
      operation: command,
      rangeId: undefined,
      detail: `account=${account()}`,
      remote: "command line",
    }),
    work,
  )
