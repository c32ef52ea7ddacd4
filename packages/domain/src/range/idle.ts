import { parseDuration } from "./duration.ts"
import type { Range } from "./range.ts"

/** When a range was last used or changed. `stamped`: a use that is not stored yet. */
export const lastUse = (
  { createdAt, lastActiveAt, lastDeploymentAt }: Pick<Range, "createdAt" | "lastActiveAt" | "lastDeploymentAt">,
  stamped: Date | undefined,
  lastRunEnd: Date | undefined,
): Date => new Date(Math.max(...[createdAt, lastActiveAt, lastDeploymentAt, stamped, lastRunEnd].map((at) => at?.getTime() ?? 0)))

/** The earliest time at which a range is shut down if nobody uses it until then; undefined: never. */
export const idleEnd = (
  { autoShutdown, stayOnUntil }: Pick<Range, "autoShutdown" | "stayOnUntil">,
  serverDefault: string,
  idleSince: Date,
): Date | undefined => {
  const limit = parseDuration(autoShutdown ?? serverDefault) ?? 0
  return limit === 0 ? undefined : new Date(Math.max(idleSince.getTime() + limit, stayOnUntil?.getTime() ?? 0))
}
