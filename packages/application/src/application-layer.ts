import * as Layer from "effect/Layer"
import { activityLayer } from "./activity-live.ts"
import type { ApiDescription } from "./api-description.ts"
import { auditRetentionLayer } from "./background/audit-retention.ts"
import { backgroundLayer } from "./background/background.ts"
import { handlerServicesLayer } from "./handler-services.ts"
import { packageLooksLayer } from "./host/package-looks.ts"
import { type RangeEngineOptions, rangeEngineLayer } from "./run/range-engine.ts"
import { runPlannerLayer } from "./run/plan-request.ts"
import { runKinds } from "./run-kinds.ts"
import type { AppServices, PortServices } from "./services.ts"
import type { Settings } from "./settings.ts"
import { signInsLayer } from "./sign-in/sign-ins-live.ts"
import { sourceContentsLayer } from "./source/source-contents.ts"

export interface ApplicationOptions extends RangeEngineOptions {
  /** False for a one-off command: no run is resumed, nothing is observed or cleaned up. Default true. */
  readonly background?: boolean
  /** Days for which the background work keeps entries of the audit trail. Default 365. */
  readonly auditDays?: number
}

/** What the embedder brings. */
type Given = PortServices | Settings | ApiDescription

/** The whole application over its ports: what the operations need, the run engine with every kind of run, and the background work. */
export const applicationLayer = ({
  background = true,
  auditDays = 365,
  ...engine
}: ApplicationOptions): Layer.Layer<Exclude<AppServices, Given>, never, Given> =>
  (background ? Layer.merge(backgroundLayer, auditRetentionLayer(auditDays)) : Layer.empty).pipe(
    Layer.provideMerge(handlerServicesLayer),
    Layer.provideMerge(rangeEngineLayer(engine, runKinds)),
    Layer.provideMerge(runPlannerLayer),
    Layer.provideMerge(Layer.mergeAll(activityLayer, packageLooksLayer, signInsLayer, sourceContentsLayer)),
  )
