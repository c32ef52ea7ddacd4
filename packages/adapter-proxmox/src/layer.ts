import {
  GuestAutomation,
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  HypervisorTemplates,
  MachineConsole,
  NetworkMigration,
  NodeShell,
} from "@rangewright/ports"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeHypervisorAccess } from "./access/hypervisor-access.ts"
import { makeClient } from "./client/client.ts"
import { makeCredentials, serviceAccountOf } from "./client/credentials.ts"
import { makeExchange } from "./client/exchange.ts"
import { httpsTransport } from "./client/https-transport.ts"
import { usableAuth } from "./client/usable-auth.ts"
import { makeMachineConsole } from "./console/machine-console.ts"
import { guestProgramAutomation } from "./guest/guest-program.ts"
import { makeHypervisor } from "./hypervisor/hypervisor.ts"
import { makeIdentity } from "./hypervisor/identity.ts"
import { makeNetworkMigration } from "./migration/network-migration.ts"
import { makeHypervisorNetwork } from "./network/hypervisor-network.ts"
import type { ProxmoxOptions } from "./options.ts"
import { noShell, sshShell } from "./shell/ssh-shell.ts"
import { makeHypervisorTemplates } from "./templates/hypervisor-templates.ts"
import { ordinaryPlaces } from "./templates/rights.ts"
import { atScale, serviceAtScale } from "./time.ts"
import { makeWatcher } from "./tasks/watcher.ts"

/** Total number of times that a repeatable request is sent when its answers are lost. */
const attempts = 3

const make = Effect.fnUntraced(function* (options: ProxmoxOptions) {
  const auth = yield* Effect.sync(() => usableAuth(options.auth))
  const endpoints = yield* Effect.acquireRelease(
    Effect.sync(() =>
      options.transport === undefined ? options.urls.map((url) => httpsTransport(url, options.tls)) : [options.transport],
    ),
    (transports) => Effect.sync(() => transports.forEach((transport) => transport.close?.())),
  )
  if (endpoints.length === 0) return yield* Effect.die(new RangeError("no URL of a Proxmox node is given"))
  const exchange = makeExchange(endpoints, { slowPerNode: options.slowPerNode ?? 2, quickPerNode: options.quickPerNode ?? 6 })
  const client = makeClient(exchange, makeCredentials(auth, exchange), {
    timeoutSeconds: options.timeoutSeconds ?? 60,
    attempts,
    measured: options.measured,
  })
  const awaitTask = yield* makeWatcher(client, {
    fastestSeconds: options.fastestPollSeconds ?? 0.25,
    slowestSeconds: options.slowestPollSeconds ?? 3,
  })
  const identity = makeIdentity(client)
  const agentSeconds = options.agentSeconds ?? 900
  const stageSeconds = options.stageSeconds ?? 7200
  const shell = options.shell ?? (options.ssh === undefined ? noShell : yield* sshShell(options.ssh))
  const timed = <S extends object>(service: S): S => serviceAtScale(service, options.timeScale ?? 1)
  const networks = makeHypervisorNetwork(client, awaitTask, { defaultNode: options.defaultNode })
  const hypervisor = makeHypervisor(client, awaitTask, identity, networks, { cloneSeconds: 3600, agentSeconds })
  const builds = options.builds ?? ordinaryPlaces
  const access = makeHypervisorAccess(client, serviceAccountOf(auth), { downloads: builds.nodeDownloads })
  return Context.make(Hypervisor, timed(hypervisor)).pipe(
    Context.add(HypervisorNetwork, timed(networks)),
    Context.add(HypervisorAccess, timed(access)),
    Context.add(HypervisorTemplates, timed(makeHypervisorTemplates(client, awaitTask, builds))),
    Context.add(GuestAutomation, timed(guestProgramAutomation(client, identity, { stageSeconds, silentSeconds: 600 }))),
    Context.add(NetworkMigration, timed(makeNetworkMigration(client, awaitTask, shell))),
    // consoles and commands on nodes use real time
    Context.add(MachineConsole, makeMachineConsole(client)),
    Context.add(NodeShell, shell),
  )
})

/**
 * All ports of one Proxmox cluster over one client. GuestAutomation runs the simulator's guest program (`guestProgramAutomation`); for real
 * machines provide another GuestAutomation over this layer, or `noGuestAutomation`.
 */
export const proxmoxLayer = (
  options: ProxmoxOptions,
): Layer.Layer<
  | Hypervisor
  | HypervisorNetwork
  | HypervisorAccess
  | HypervisorTemplates
  | GuestAutomation
  | MachineConsole
  | NetworkMigration
  | NodeShell
> => Layer.effectContext(atScale(options.timeScale ?? 1)(make(options)))
