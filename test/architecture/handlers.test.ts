import { operation } from "@rangewright/application"
import {
  Hypervisor,
  HypervisorAccess,
  HypervisorNetwork,
  Machines,
  NetworkMigration,
  NodePackages,
  NodeShell,
  VpnServer,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { expect, test } from "vitest"

/** An operation without its handler. */
const planted = {
  id: "planted",
  route: "GET /planted",
  group: "Host",
  does: "break the rule",
  summary: "What the type check refuses",
  access: "admin",
  target: "none",
  output: { type: "json", schema: Schema.Unknown },
  statuses: { 200: "never" },
} as const

/** The type check must refuse each of these, and fails if it accepts one. */
const violations = [
  // @ts-expect-error handlers do not reach the hypervisor
  operation({ ...planted, handle: () => Hypervisor.use((port) => port.version) }),
  // @ts-expect-error
  operation({ ...planted, handle: () => HypervisorAccess.use((port) => port.privileges) }),
  // @ts-expect-error
  operation({ ...planted, handle: () => HypervisorNetwork.use((port) => port.observe) }),
  // @ts-expect-error
  operation({ ...planted, handle: () => NetworkMigration.use((port) => port.observeCached("zone")) }),
  // @ts-expect-error
  operation({ ...planted, handle: () => NodePackages.use((port) => port.observe("node")) }),
  // @ts-expect-error nor the VPN server
  operation({ ...planted, handle: () => VpnServer.use((port) => port.observe) }),
  // @ts-expect-error not even through functions they call
  operation({ ...planted, handle: () => Effect.map(NodeShell, ({ available }) => available) }),
]

test("handlers of operations may use the store, and not the hypervisor", () => {
  const allowed = operation({ ...planted, handle: () => Machines.use((port) => port.freshness) })
  expect([...violations, allowed].map(({ id }) => id)).toEqual(Array.from({ length: 8 }, () => "planted"))
})
