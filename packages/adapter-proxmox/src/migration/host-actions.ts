import {
  type HostAction,
  type HostCommand,
  hostCommands,
  hostFile,
  hostFilePrefix,
  type HostNetwork,
  type InstallationNode,
  interfacesFolder,
} from "@rangewright/domain"
import { HypervisorFault, type NodeShell, type ShellFault, type ShellResult } from "@rangewright/ports"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type Fields, list, rows, text } from "../wire/read.ts"

type Shell = Context.Service.Shape<typeof NodeShell>

const failed = (doing: string, detail: string): HypervisorFault => new HypervisorFault({ doing, reason: "failed", detail })

/** The node may be rebooting: as with the API, the caller waits for it. */
const away =
  (doing: string) =>
  ({ facts }: ShellFault): HypervisorFault =>
    new HypervisorFault({ doing, reason: "away", detail: facts.detail })

const run = (shell: Shell, node: string, command: HostCommand, doing: string): Effect.Effect<ShellResult, HypervisorFault> =>
  Effect.mapError(shell.run(node, command), away(doing))

/** The output of a command that reads. What could not be read is not "nothing": a plan or a proof would build on it. */
const read = Effect.fnUntraced(function* (
  shell: Shell,
  node: string,
  command: HostCommand,
  doing: string,
): Effect.fn.Return<string, HypervisorFault> {
  const result = yield* run(shell, node, command, doing)
  return result.exitCode === 0 ? result.stdout : yield* failed(doing, said(command, result))
})

const readRows = Effect.fnUntraced(function* (
  shell: Shell,
  node: string,
  what: "address" | "route",
  doing: string,
): Effect.fn.Return<readonly Fields[], HypervisorFault> {
  const output = yield* read(shell, node, { program: "ip", args: ["-json", "-4", what, "show"] }, doing)
  const value = yield* Effect.try({
    // some versions print nothing instead of an empty list
    try: (): unknown => (output.trim() === "" ? [] : JSON.parse(output)),
    catch: () => failed(doing, "ip printed something else than JSON"),
  })
  return rows(value)
})

const filesOf = Effect.fnUntraced(function* (
  shell: Shell,
  node: string,
  doing: string,
): Effect.fn.Return<Readonly<Record<string, string>>, HypervisorFault> {
  const search = {
    program: "find",
    args: [interfacesFolder, "-maxdepth", "1", "-type", "f", "-name", `${hostFilePrefix}*`],
  }
  const found = yield* run(shell, node, search, doing)
  if (found.exitCode !== 0) {
    const isThere = (yield* run(shell, node, { program: "test", args: ["-d", interfacesFolder] }, doing)).exitCode === 0
    return isThere ? yield* failed(doing, said(search, found)) : {}
  }
  const paths = found.stdout.split("\n").filter((path) => path !== "")
  const files = yield* Effect.forEach(paths, (path) =>
    Effect.map(read(shell, node, { program: "cat", args: [path] }, doing), (content) => {
      const device = path.slice(interfacesFolder.length + 1 + hostFilePrefix.length)
      return [device, content] as const
    }),
  )
  return Object.fromEntries(files)
})

const lookAt = Effect.fnUntraced(function* (
  shell: Shell,
  node: string,
  doing: string,
): Effect.fn.Return<HostNetwork, HypervisorFault> {
  const links = yield* readRows(shell, node, "address", doing)
  const routes = yield* readRows(shell, node, "route", doing)
  return {
    type: "seen",
    addresses: links.flatMap((link) => {
      const device = text(link, "ifname")
      return list(link, "addr_info").flatMap((info) => {
        const [local, prefix] = [text(info, "local"), text(info, "prefixlen")]
        return device === undefined || local === undefined ? [] : [{ device, address: `${local}/${prefix ?? "32"}` }]
      })
    }),
    routes: routes.flatMap((route) => {
      const [to, device] = [text(route, "dst"), text(route, "dev")]
      if (to === undefined || device === undefined) return []
      // a single host is shown without a prefix length
      return [{ network: /^[\d.]+$/u.test(to) ? `${to}/32` : to, via: text(route, "gateway"), device }]
    }),
    files: yield* filesOf(shell, node, doing),
  }
})

/** The node's own network as seen through its shell; undefined when there is no shell access. */
export const observeHost = (shell: Shell, node: string): Effect.Effect<InstallationNode["host"]> =>
  shell.reaches(node)
    ? lookAt(shell, node, `read the network of node ${node}`).pipe(
        Effect.catch(({ message }) => Effect.succeed({ type: "silent" as const, because: message })),
      )
    : Effect.succeed(undefined)

const doingOf = (action: HostAction): string => {
  if (action.kind === "range-route") return `route ${action.network} through ${action.device} on node ${action.node}`
  const [doing, word] = action.kind === "host-address" ? ["give", "to"] : ["take", "from"]
  return `${doing} the address ${action.address} of node ${action.node} ${word} ${action.device}`
}

/** Runs the commands of an action and keeps their output. Whether they had the effect is checked by `proveHost`. */
export const performHost = Effect.fnUntraced(function* (
  shell: Shell,
  action: HostAction,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = doingOf(action)
  for (const command of hostCommands(action)) {
    const result = yield* run(shell, action.node, command, doing)
    if (result.exitCode === 0) continue
    // what is to be removed from a device is gone when the device is
    if (isDone(yield* lookAt(shell, action.node, doing), action)) return
    return yield* failed(doing, said(command, result))
  }
})

const said = ({ program, args }: HostCommand, { exitCode, stderr }: Pick<ShellResult, "exitCode" | "stderr">): string =>
  `${[program, ...args].join(" ")} ended with ${exitCode}${stderr.trim() === "" ? "" : `: ${stderr.trim().slice(0, 300)}`}`

const isDone = ({ addresses, routes, files }: HostNetwork, action: HostAction): boolean => {
  const { device } = action
  switch (action.kind) {
    case "host-address":
      return (
        files[device] === hostFile(device, action.address, action.routes) &&
        addresses.some((one) => one.device === device && one.address === action.address)
      )
    case "range-route":
      return [
        { network: `${action.router}/32`, via: undefined },
        { network: action.network, via: action.router },
      ].every(({ network, via }) => routes.some((one) => one.network === network && one.via === via && one.device === device))
    case "leave-host":
      return files[device] === undefined && !addresses.some((one) => one.device === device && one.address === action.address)
  }
}

/** Fails unless the node shows the effect of the action. */
export const proveHost = Effect.fnUntraced(function* (shell: Shell, action: HostAction): Effect.fn.Return<void, HypervisorFault> {
  const doing = doingOf(action)
  if (isDone(yield* lookAt(shell, action.node, doing), action)) return
  return yield* new HypervisorFault({
    doing,
    reason: "failed",
    detail: `node ${action.node} does not show the change`,
    hint: `Check ip address and ip route on node ${action.node}, and start again.`,
  })
})
