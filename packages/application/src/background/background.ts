import * as Layer from "effect/Layer"
import { autoShutdownLayer } from "./auto-shutdown.ts"
import { observerLayer } from "./observer.ts"
import { recoveryLayer } from "./recovery.ts"
import { sourceScheduleLayer } from "./source-schedule.ts"

/**
 * What a service does by itself: it observes the hypervisor, goes on with interrupted runs, shuts idle ranges down, and syncs sources whose time
 * has come.
 */
export const backgroundLayer = Layer.mergeAll(observerLayer, recoveryLayer, autoShutdownLayer, sourceScheduleLayer)
