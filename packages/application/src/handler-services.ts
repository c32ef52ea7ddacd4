import * as Layer from "effect/Layer"
import { consolesLayer } from "./console/consoles-live.ts"
import { eventFeedLayer } from "./feed/event-feed-live.ts"
import { nodeFiguresLayer } from "./host/node-figures.ts"
import { migrationsLayer } from "./migration/migrations.ts"
import { snapshotReaderLayer } from "./range/snapshot-reader.ts"
import { accessControlLayer } from "./rights/access-control.ts"

/** Services between the handlers of operations and the hypervisor. */
export const handlerServicesLayer = Layer.mergeAll(
  consolesLayer,
  eventFeedLayer,
  migrationsLayer,
  nodeFiguresLayer,
  snapshotReaderLayer,
).pipe(Layer.provideMerge(accessControlLayer))
