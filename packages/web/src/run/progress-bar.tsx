import type { Run } from "@rangewright/application/wire"
import { t } from "../texts.ts"

/** By the work that is done, as the remaining time is: steps take from a second to an hour. */
export const ProgressBar = ({ run: { progress } }: { readonly run: Run }) => (
  <progress max="100" value={progress.percent} aria-label={t.run.steps(progress.done, progress.total)} />
)
