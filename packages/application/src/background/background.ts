import * as Layer from "effect/Layer"
import { accessKeeperLayer } from "./access-keeper.ts"
import { autoShutdownLayer } from "./auto-shutdown.ts"
import { buildKeeperLayer } from "./build-keeper.ts"
import { observerLayer } from "./observer.ts"
import { packagesKeeperLayer } from "./packages-keeper.ts"
import { recoveryLayer } from "./recovery.ts"
import { routerRoundLayer } from "./router-round.ts"
import { sourceScheduleLayer } from "./source-schedule.ts"
import { vpnKeeperLayer } from "./vpn-keeper.ts"

/**
 * What a service does by itself: it observes the hypervisor, keeps access in line, resumes interrupted runs, looks at the routers of ranges in
 * testing mode, shuts idle ranges down, removes what builds have left, looks at the packages of
 * nodes, syncs sources whose time has come, and keeps the VPN in line.
 */
export const backgroundLayer = Layer.mergeAll(
  accessKeeperLayer,
  observerLayer,
  recoveryLayer,
  routerRoundLayer,
  autoShutdownLayer,
  buildKeeperLayer,
  packagesKeeperLayer,
  sourceScheduleLayer,
  vpnKeeperLayer,
)
