import type { RangeState } from "../range/range.ts"
import { isRangeRunKind, type RunKind, type RunStatus } from "./event.ts"

/**
 * What the range shows while a run of this kind changes it; undefined: what it showed before, or there is no range. Only deploys and removals
 * of its VMs show: a change of who may use it says nothing of what became of the last deploy.
 */
export const rangeStateDuring = (kind: RunKind): RangeState | undefined => {
  if (!isRangeRunKind(kind)) return undefined
  switch (kind) {
    case "deploy":
      return "DEPLOYING"
    case "destroy":
    case "delete-range":
      return "DESTROYING"
    case "destroy-vm":
    case "power":
    case "auto-shutdown":
    case "access":
    case "snapshot-create":
    case "snapshot-rollback":
    case "snapshot-remove":
      return undefined
  }
}

/** What the range shows after the run ended so; undefined: what it showed before. */
export const rangeStateAfter = (kind: RunKind, status: Exclude<RunStatus, "running">): RangeState | undefined => {
  if (rangeStateDuring(kind) === undefined) return undefined
  if (status === "aborted") return "ABORTED"
  if (status === "failure" || status === "partial") return "ERROR"
  return kind === "deploy" ? "SUCCESS" : "DESTROYED"
}
