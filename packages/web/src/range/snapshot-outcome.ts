import type { SnapshotResult } from "@rangewright/application/wire"
import { Refusal } from "../api/client.ts"
import { t } from "../texts.ts"

/** The result for each machine; throws if one failed. */
export const snapshotText = ({ success = [], errors = [], warnings = [] }: SnapshotResult): string => {
  const said = warnings.map(({ vmname, vmid, warning }) => `${vmname ?? vmid}: ${warning}`)
  if (errors.length > 0)
    throw new Refusal(
      500,
      [
        ...errors.map(({ vmname, vmid, error }) => `${vmname ?? vmid ?? ""}: ${error}`),
        ...(success.length > 0 ? [t.snapshots.done(success.length)] : []),
      ].join("\n"),
    )
  return [t.snapshots.done(success.length), ...said].join("\n")
}
