import type { HostNetwork, InstallationNode } from "./installation.ts"
import { hostFile, rangeRoute, rangeRoutes } from "./host-files.ts"
import type { Mover } from "./moves.ts"
import { isRouter } from "../machine/router.ts"
import type { MigrationPicture } from "./picture.ts"
import type { MigrationBlocker, MigrationStep } from "./plan.ts"
import { migrationStep } from "./steps.ts"

/** The node that is the outside network's gateway: routers reach the outside through its address, and it reaches ranges through theirs. */
export interface Gateway {
  readonly node: string
  /** With its prefix. */
  readonly address: string
  readonly host: InstallationNode["host"]
}

/** Nodes whose address we have moved to the VNet: the bridge no longer has it, and its record may be gone. */
const moved = ({ installation, options: { natVnet } }: MigrationPicture) =>
  installation.nodes.flatMap(({ name: node, host }) =>
    host?.type !== "seen" || host.files[natVnet] === undefined
      ? []
      : host.addresses.flatMap(({ device, address }) => (device === natVnet ? [{ node, address }] : [])),
  )

/** The node that has an address on the outside bridge, or had it before a migration. */
export const gatewayOf = (picture: MigrationPicture): Gateway | undefined => {
  const { bridges, installation, options } = picture
  const held = (bridges.get(options.natBridge) ?? []).filter(({ address }) => address !== undefined)
  const recorded = (installation.record?.bridges ?? []).filter(
    ({ name, address }) => name === options.natBridge && address !== undefined,
  )
  const all = [...recorded, ...held, ...moved(picture)]
  const found = all.find(({ node }) => node === options.gatewayNode) ?? all[0]
  if (found?.address === undefined) return undefined
  const host = installation.nodes.find(({ name }) => name === found.node)?.host
  return { node: found.node, address: found.address, host }
}

/** The gateway if its network can be changed from here; undefined: it is changed by hand, or there is none. */
export const steeredGateway = (picture: MigrationPicture): (Gateway & { readonly host: HostNetwork }) | undefined => {
  const gateway = gatewayOf(picture)
  return gateway?.host?.type === "seen" ? { ...gateway, host: gateway.host } : undefined
}

/** Blocks when the configured shell does not answer: what the gateway needs is unknown, and nothing is done by halves. */
export const gatewayObstacles = (picture: MigrationPicture): readonly MigrationBlocker[] => {
  const gateway = gatewayOf(picture)
  if (gateway?.host?.type !== "silent") return []
  return [
    {
      code: "host-silent",
      message: `the routes to ranges are on node ${gateway.node}, but its shell does not answer (${gateway.host.because})`,
      hint: `Fix the SSH access to node ${gateway.node}, or remove its configuration: then the plan lists what to do by hand.`,
    },
  ]
}

/** The steps after which the old device is unused: every machine is proven to have left it, and every route leads elsewhere. */
export const leftKeys = (movers: readonly Mover[], routes: readonly MigrationStep[]): readonly string[] => [
  "verify-networks",
  ...new Set(movers.map(({ own }) => `verify-machines:${own.machine.node}`)),
  ...routes.map(({ key }) => key),
]

export interface HostSteps {
  /** Adds the address to the device, and saves it with all routes for the next boot. */
  readonly prepare: readonly MigrationStep[]
  /** Routes each range through the device, as soon as its router is there. */
  readonly move: readonly MigrationStep[]
  /** Removes the address from the device that had it before. */
  readonly leave: readonly MigrationStep[]
}

const noSteps: HostSteps = { prepare: [], move: [], leave: [] }

/** The gateway's steps when the outside network moves from one device to another; none when it cannot be changed from here. */
export const hostSteps = (
  picture: MigrationPicture,
  movers: readonly Mover[],
  { from, to, after }: { readonly from: string; readonly to: string; readonly after: readonly string[] },
): HostSteps => {
  const gateway = steeredGateway(picture)
  if (gateway === undefined) return noSteps
  const { node, address, host } = gateway
  const routes = rangeRoutes(picture.installation.ranges)
  const has = (device: string): boolean => host.addresses.some((one) => one.device === device && one.address === address)
  const kept = host.files[to]
  const prepare =
    has(to) && kept === hostFile(to, address, routes)
      ? []
      : [
          migrationStep(
            { key: `host-address:${to}`, title: `Add the address ${address} to ${to} on node ${node}`, phase: "prepare", after },
            { kind: "host-address", node, device: to, address, routes, fresh: !has(to) && kept === undefined },
          ),
        ]
  const move = routeSteps(picture, movers, gateway, to)
  const leave =
    has(from) || host.files[from] !== undefined
      ? [
          migrationStep(
            {
              key: `leave-host:${from}`,
              title: `Remove the address ${address} from ${from} on node ${node}`,
              phase: "clean",
              after: leftKeys(movers, move),
            },
            { kind: "leave-host", node, device: from, address },
          ),
        ]
      : []
  return { prepare, move, leave }
}

const routeSteps = (
  { installation }: MigrationPicture,
  movers: readonly Mover[],
  { node, host }: Gateway & { readonly host: HostNetwork },
  device: string,
): readonly MigrationStep[] => {
  const routers = new Map(
    movers.flatMap(({ own: { machine, range } }) =>
      range !== undefined && isRouter(machine, range) ? [[range, `move:${machine.vmid}`] as const] : [],
    ),
  )
  const leads = (network: string, via: string | undefined): boolean =>
    host.routes.some((one) => one.network === network && one.via === via && one.device === device)
  return installation.ranges
    .toSorted((a, b) => a.number - b.number)
    .flatMap((range) => {
      const route = rangeRoute(range)
      if (route === undefined || (leads(`${route.router}/32`, undefined) && leads(route.network, route.router))) return []
      return [
        migrationStep(
          {
            key: `range-route:${range.id}`,
            title: `Route ${route.network} through ${device} on node ${node}`,
            phase: "move",
            after: [routers.get(range.id) ?? "verify-networks"],
            range: range.id,
          },
          { kind: "range-route", node, device, ...route },
        ),
      ]
    })
}

/** Changes the bridge's own address in the node's configuration, through the API; undefined: there is nothing to change. */
export const bridgeAddressStep = (
  picture: MigrationPicture,
  wanted: "none" | "recorded",
  facts: Pick<MigrationStep, "phase" | "after">,
): MigrationStep | undefined => {
  const gateway = steeredGateway(picture)
  const { natBridge } = picture.options
  const bridge = picture.bridges.get(natBridge)?.find(({ node }) => node === gateway?.node)
  if (gateway === undefined || bridge === undefined || bridge.ports.length > 0) return undefined
  const { node } = gateway
  const address = wanted === "none" ? undefined : gateway.address
  if (bridge.address === address) return undefined
  const title =
    address === undefined
      ? `Write ${natBridge} of node ${node} without its address`
      : `Write ${address} to ${natBridge} of node ${node}`
  return migrationStep(
    { key: `bridge-address:${node}/${natBridge}`, title, ...facts },
    { kind: "bridge-address", node, bridge: natBridge, ...(address === undefined ? {} : { address }) },
  )
}

/** Whether a pending edit of the outside bridge was written by a migration: its address differs from the one in force. */
export const isOwnAddressEdit = (picture: MigrationPicture, node: string, name: string, wanted: "none" | "recorded"): boolean => {
  const gateway = steeredGateway(picture)
  if (gateway?.node !== node || name !== picture.options.natBridge) return false
  const written = picture.bridges.get(name)?.find((bridge) => bridge.node === node)?.address
  const inForce = gateway.host.addresses.some(({ device, address }) => device === name && address === gateway.address)
  return wanted === "none" ? written === undefined && inForce : written === gateway.address && !inForce
}
