import { rangeNetwork, rangeNumberProblem, wanAddress } from "../network/addressing.ts"
import type { MigrationAction, RangeRoute } from "./action.ts"
import type { InstallationRange } from "./installation.ts"

export const rangeRoute = (range: Pick<InstallationRange, "number">): RangeRoute | undefined =>
  rangeNumberProblem(range.number) === undefined
    ? { network: rangeNetwork(range.number).text, router: wanAddress(range.number) }
    : undefined

/** The routes to all ranges, in the order of their numbers. */
export const rangeRoutes = (ranges: readonly InstallationRange[]): readonly RangeRoute[] =>
  ranges.toSorted((a, b) => a.number - b.number).flatMap((range) => rangeRoute(range) ?? [])

/** A command on a node as data: program and arguments stay separate. */
export interface HostCommand {
  readonly program: string
  readonly args: readonly string[]
  readonly input?: string
}

/** The folder of interface files that `/etc/network/interfaces` includes; ours are named after their device. */
export const interfacesFolder = "/etc/network/interfaces.d"
export const hostFilePrefix = "rangewright-"
const fileOf = (device: string): string => `${interfacesFolder}/${hostFilePrefix}${device}`

/**
 * The arguments of `ip` that route a range through a device. The router gets a host route of its own: while two devices have an address in
 * the outside network, only that route says behind which of them the router is.
 */
const routeWords = (device: string, { network, router }: RangeRoute): readonly (readonly string[])[] => [
  ["route", "replace", `${router}/32`, "dev", device],
  ["route", "replace", network, "via", router, "dev", device],
]

/** The ifupdown file that restores address and routes when the device comes up. */
export const hostFile = (device: string, address: string, routes: readonly RangeRoute[]): string =>
  [
    "# Written by Rangewright: the outside network's address of this node, and its routes to ranges.",
    `auto ${device}`,
    `iface ${device} inet static`,
    `\taddress ${address}`,
    ...routes.flatMap((route) => routeWords(device, route).map((words) => `\tpost-up ip ${words.join(" ")}`)),
    "",
  ].join("\n")

/** An action on a node's own network that only a shell can do. */
export type HostAction = Extract<MigrationAction, { readonly kind: "host-address" | "range-route" | "leave-host" }>

const ip = (...args: readonly string[]): HostCommand => ({ program: "ip", args })

/** The commands of an action, in order. Each may be repeated. */
export const hostCommands = (action: HostAction): readonly HostCommand[] => {
  const { device } = action
  switch (action.kind) {
    case "host-address": {
      // written to a temporary file and renamed: readers find the old file or the new one, whole; ifupdown skips names with a dot
      const beside = `${interfacesFolder}/.${hostFilePrefix}${device}`
      const input = hostFile(device, action.address, action.routes)
      return [
        { program: "dd", args: [`of=${beside}`, "conv=fsync", "status=none"], input },
        { program: "mv", args: ["-f", beside, fileOf(device)] },
        ip("address", "replace", action.address, "dev", device),
      ]
    }
    case "range-route":
      return routeWords(device, action).map((words) => ip(...words))
    case "leave-host":
      return [
        { program: "rm", args: ["-f", fileOf(device)] },
        ip("address", "flush", "dev", device, "to", `${action.address.split("/")[0] ?? ""}/32`),
      ]
  }
}

/** A command as a person types it. */
export const commandText = ({ program, args, input }: HostCommand): string => {
  const line = [program, ...args].join(" ")
  return input === undefined ? line : `${line} <<'END'\n${input}END`
}
