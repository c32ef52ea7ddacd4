import { commandText, hostCommands, rangeRoutes } from "./host-files.ts"
import { type Gateway, gatewayOf, steeredGateway } from "./host.ts"
import type { MigrationPicture } from "./picture.ts"
import type { MigrationStep } from "./plan.ts"

/** Only the node's administrator knows where this is configured. */
const services = (node: string, device: string): string => `On node ${node}: let its DHCP and name service listen on ${device}.`

/** The commands that the steps would run, for a node that no shell is configured for. */
const commands = (picture: MigrationPicture, { node, address }: Gateway, from: string, to: string): readonly string[] => {
  const routes = rangeRoutes(picture.installation.ranges)
  const actions = [
    { kind: "host-address" as const, node, device: to, address, routes, fresh: true },
    ...routes.map((route) => ({ kind: "range-route" as const, node, device: to, ...route })),
    { kind: "leave-host" as const, node, device: from, address },
  ]
  return [
    `On node ${node}: give ${to} the address ${address}, route to the ranges through it, and remove the address from ${from} (System > Network of the node, or /etc/network/interfaces). Until then, routers cannot reach the outside.`,
    `On node ${node}, as root:\n${actions.flatMap((action) => hostCommands(action).map(commandText)).join("\n")}`,
  ]
}

const byHand = (picture: MigrationPicture, steps: readonly MigrationStep[], from: string, to: string, left: boolean) => {
  const gateway = gatewayOf(picture)
  if (gateway === undefined) return []
  if (steeredGateway(picture) !== undefined)
    return steps.some(({ action }) => action.kind === "host-address") ? [services(gateway.node, to)] : []
  return left ? [...commands(picture, gateway, from, to), services(gateway.node, to)] : []
}

/** Manual work for the move to VNets: all of it while a node without a configured shell has its address on the outside bridge. */
export const byHandToVnet = (picture: MigrationPicture, steps: readonly MigrationStep[]): readonly string[] => {
  const { natBridge, natVnet } = picture.options
  const holds = (picture.bridges.get(natBridge) ?? []).some(({ address }) => address !== undefined)
  return byHand(picture, steps, natBridge, natVnet, holds)
}

/** Manual work for the return to bridges, where a node's address on the outside bridge has moved to the VNet since. */
export const byHandToBridge = (picture: MigrationPicture, steps: readonly MigrationStep[]): readonly string[] => {
  const { natBridge, natVnet } = picture.options
  const node = gatewayOf(picture)?.node
  const now = picture.bridges.get(natBridge)?.find((bridge) => bridge.node === node)
  return byHand(picture, steps, natVnet, natBridge, now?.address === undefined)
}
