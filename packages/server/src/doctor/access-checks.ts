import { compareAccess, type Settings, staleRouters } from "@rangewright/application"
import { changeText, pendingAccess } from "@rangewright/domain"
import type { AccessRecords, HypervisorAccess, Machines, Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { type Finding, ok, warn } from "./finding.ts"

const what = "access"
const linesAtMost = 5

const some = (lines: readonly string[]): string =>
  [...lines.slice(0, linesAtMost), ...(lines.length > linesAtMost ? [`and ${lines.length - linesAtMost} more`] : [])].join("; ")

/** A single finding for all lines; none when there are no lines. */
const told = (detail: string, lines: readonly string[], hint: string): readonly Finding[] =>
  lines.length === 0 ? [] : [warn(what, `${detail}: ${some(lines)}`, hint)]

/** Why nothing could be compared. */
export const notCompared = ({ message, hint }: { readonly message: string; readonly hint?: string | undefined }): Finding =>
  warn(what, message, hint ?? "Check the service's log, and run this again when the service is up.")

const repair = "A running service repairs this automatically; POST /access/reconcile does it now, and says what prevents it."

/** Compares accounts, groups and rights on the hypervisor, and what routers let in, with what is stored. Changes nothing. */
export const checkAccess: Effect.Effect<
  readonly Finding[],
  never,
  AccessRecords | HypervisorAccess | Machines | Ranges | Settings
> = Effect.gen(function* () {
  const { changes, desired, held, plan } = yield* compareAccess
  const { revocations } = pendingAccess(held, desired)
  const routers = (yield* staleRouters).map(({ range }) => range.id)
  const found = [
    ...told("revoked, but not yet on the hypervisor", revocations, repair),
    ...told("the hypervisor differs from what is stored", changes.map(changeText), repair),
    ...told("cannot be reconciled", plan.notes, "Fix what each of them names; the service tries again on its own."),
    ...told(
      "routers let the wrong users in, of the ranges",
      routers,
      "The service updates a router as soon as it runs and no run changes its range; POST /access/reconcile updates those that can be updated now.",
    ),
  ]
  const inLine = ok(what, `everything is as stored (accounts: ${desired.accounts.size}, ranges: ${desired.ranges.size})`)
  return found.length === 0 ? [inLine] : found
}).pipe(Effect.catch((fault) => Effect.succeed([notCompared(fault)])))
