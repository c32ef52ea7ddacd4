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
 * The background work of the service: observes the hypervisor, keeps access in line, resumes interrupted runs, checks the routers of ranges
 * in testing mode, shuts down idle ranges, cleans up after builds, checks the packages of nodes, syncs sources on schedule, and keeps the
 * VPN in line.
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
