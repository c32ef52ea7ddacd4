import type { RangeState } from "../range/range.ts"
import { isRangeRunKind, type RunKind, type RunStatus } from "./event.ts"

/**
 * The state of a range during a run of this kind; undefined if it does not change, or the run does not concern a range. Only deploys and
 * removals change it: the state shows how the last of them went.
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
    case "testing-start":
    case "testing-stop":
    case "testing-change":
    case "testing-update":
    case "kms-license":
    case "kms-install":
    case "anti-sandbox-enable":
    case "anti-sandbox-disable":
      return undefined
  }
}

/** The state of a range after the run; undefined if it does not change. */
export const rangeStateAfter = (kind: RunKind, status: Exclude<RunStatus, "running">): RangeState | undefined => {
  if (rangeStateDuring(kind) === undefined) return undefined
  if (status === "aborted") return "ABORTED"
  if (status === "failure" || status === "partial") return "ERROR"
  return kind === "deploy" ? "SUCCESS" : "DESTROYED"
}
