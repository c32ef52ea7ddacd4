import type { Range, SnapshotResult, Snapshots } from "@rangewright/application/wire"
import { change } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { ConfirmButton, type Doing } from "../parts/parts.tsx"
import { t } from "../texts.ts"
import { snapshotText } from "./snapshot-outcome.ts"

/** Rolls all machines back to the newest snapshot that they all have; nothing when there is none. */
export const Reset = ({ range: { rangeID, rangeState, VMs }, doing }: { readonly range: Range; readonly doing: Doing }) => {
  const isReady = VMs.length > 0 && rangeState !== "DEPLOYING" && rangeState !== "DESTROYING"
  const sets = useRead<Snapshots>(
    isReady ? "/snapshots/sets" : undefined,
    { rangeID },
    (event) => event.topic === "run" && event.rangeID === rangeID,
  )
  const newest = sets.data.value?.sets.filter(({ complete }) => complete).toSorted((a, b) => b.newest - a.newest)[0]
  if (newest === undefined) return null
  const { name } = newest
  return (
    <>
      <ConfirmButton
        disabled={doing.busy}
        question={{
          title: t.snapshots.rollBackTitle(name),
          text: t.snapshots.rollBackText,
          action: t.snapshots.rollBack,
          danger: true,
          act: () =>
            void doing.run(async () =>
              snapshotText(await change<SnapshotResult>("POST", "/snapshots/rollback", { rangeID }, { name })),
            ),
        }}
      >
        {t.range.reset(name)}
      </ConfirmButton>
    </>
  )
}
