import * as Layer from "effect/Layer"
import { accessKeeperLayer } from "./access-keeper.ts"
import { autoShutdownLayer } from "./auto-shutdown.ts"
import { buildKeeperLayer } from "./build-keeper.ts"
import { observerLayer } from "./observer.ts"
import { recoveryLayer } from "./recovery.ts"
import { sourceScheduleLayer } from "./source-schedule.ts"
import { vpnKeeperLayer } from "./vpn-keeper.ts"

/**
 * What a service does by itself: it observes the hypervisor, keeps access in line, goes on with interrupted runs, shuts idle ranges down, removes
 * what builds have left, syncs sources whose time has come, and keeps the VPN in line.
 */
export const backgroundLayer = Layer.mergeAll(
  accessKeeperLayer,
  observerLayer,
  recoveryLayer,
  autoShutdownLayer,
  buildKeeperLayer,
  sourceScheduleLayer,
  vpnKeeperLayer,
)
