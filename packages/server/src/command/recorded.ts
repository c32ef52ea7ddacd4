import { audited } from "@rangewright/application"
import type { Fault } from "@rangewright/domain"
import type { AuditTrail, StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { userInfo } from "node:os"

/** Who typed it, as the system knows them; a container may run under a number that has no name. */
const account = (): string => {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? "")
  }
}

/** What a command changes leaves an audit entry as an operation does: under the command's name, and without a caller. */
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
