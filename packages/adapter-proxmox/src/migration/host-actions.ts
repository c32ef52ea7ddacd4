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
import { list, rows, text } from "../wire/read.ts"

type Shell = Context.Service.Shape<typeof NodeShell>

const json = (output: string): unknown => {
  try {
    return JSON.parse(output)
  } catch {
    return []
  }
}

const read = (shell: Shell, node: string, program: string, ...args: readonly string[]): Effect.Effect<string, ShellFault> =>
  Effect.map(shell.run(node, { program, args }), ({ exitCode, stdout }) => (exitCode === 0 ? stdout : ""))

const filesOf = Effect.fnUntraced(function* (
  shell: Shell,
  node: string,
): Effect.fn.Return<Readonly<Record<string, string>>, ShellFault> {
  const found = yield* read(shell, node, "find", interfacesFolder, "-maxdepth", "1", "-type", "f", "-name", `${hostFilePrefix}*`)
  const paths = found.split("\n").filter((path) => path !== "")
  const files = yield* Effect.forEach(paths, (path) =>
    Effect.map(read(shell, node, "cat", path), (content) => {
      const device = path.slice(interfacesFolder.length + 1 + hostFilePrefix.length)
      return [device, content] as const
    }),
  )
  return Object.fromEntries(files)
})

const lookAt = Effect.fnUntraced(function* (shell: Shell, node: string): Effect.fn.Return<HostNetwork, ShellFault> {
  const links = rows(json(yield* read(shell, node, "ip", "-json", "-4", "address", "show")))
  const routes = rows(json(yield* read(shell, node, "ip", "-json", "-4", "route", "show")))
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
    files: yield* filesOf(shell, node),
  }
})

/** The node's own network as seen through its shell; undefined when there is no shell access. */
export const observeHost = (shell: Shell, node: string): Effect.Effect<InstallationNode["host"]> =>
  shell.reaches(node)
    ? lookAt(shell, node).pipe(Effect.catch(({ message }) => Effect.succeed({ type: "silent" as const, because: message })))
    : Effect.succeed(undefined)

const doingOf = (action: HostAction): string => {
  if (action.kind === "range-route") return `route ${action.network} through ${action.device} on node ${action.node}`
  const [doing, word] = action.kind === "host-address" ? ["give", "to"] : ["take", "from"]
  return `${doing} the address ${action.address} of node ${action.node} ${word} ${action.device}`
}

/** The node may be rebooting: as with the API, the caller waits for it. */
const away =
  (doing: string) =>
  ({ facts }: ShellFault): HypervisorFault =>
    new HypervisorFault({ doing, reason: "away", detail: facts.detail })

/** Runs the commands of an action and keeps their output. Whether they had the effect is checked by `proveHost`. */
export const performHost = Effect.fnUntraced(function* (
  shell: Shell,
  action: HostAction,
): Effect.fn.Return<void, HypervisorFault> {
  const doing = doingOf(action)
  for (const command of hostCommands(action)) {
    const { exitCode, stderr } = yield* Effect.mapError(shell.run(action.node, command), away(doing))
    if (exitCode === 0) continue
    // what is to be removed from a device is gone when the device is
    const shown = yield* Effect.mapError(lookAt(shell, action.node), away(doing))
    if (isDone(shown, action)) return
    return yield* new HypervisorFault({ doing, reason: "failed", detail: said(command, { exitCode, stderr }) })
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
  const shown = yield* Effect.mapError(lookAt(shell, action.node), away(doing))
  if (isDone(shown, action)) return
  return yield* new HypervisorFault({
    doing,
    reason: "failed",
    detail: `node ${action.node} does not show the change`,
    hint: `Check ip address and ip route on node ${action.node}, and start again.`,
  })
})
