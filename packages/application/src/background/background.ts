import * as Layer from "effect/Layer"
import { autoShutdownLayer } from "./auto-shutdown.ts"
import { observerLayer } from "./observer.ts"
import { recoveryLayer } from "./recovery.ts"

/** What a service does by itself: it observes the hypervisor, goes on with interrupted runs, and shuts idle ranges down. */
export const backgroundLayer = Layer.mergeAll(observerLayer, recoveryLayer, autoShutdownLayer)
