import { deviceTowards, hostAddresses, setHostAddress } from "../core/host-network.ts"
import type { NodeState } from "../core/state.ts"

/** The result of a command on a node. */
export interface CommandResult {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

const ok = (stdout = ""): CommandResult => ({ exitCode: 0, stdout, stderr: "" })
const failed = (exitCode: number, stderr: string): CommandResult => ({ exitCode, stdout: "", stderr })

const hasDevice = (node: NodeState, device: string): boolean => node.interfaces.has(device) || node.vnets.has(device)

const addresses = (node: NodeState): string => {
  const devices = [...new Set([...node.interfaces.keys(), ...node.vnets])]
  const all = hostAddresses(node)
  return JSON.stringify(
    devices.map((ifname) => ({
      ifname,
      addr_info: all
        .filter(({ device }) => device === ifname)
        .map(({ address }) => ({ family: "inet", local: address.split("/")[0], prefixlen: Number(address.split("/")[1]) })),
    })),
  )
}

const routes = (node: NodeState): string =>
  JSON.stringify(
    [...node.host.routes].map(([dst, { via, device }]) => ({
      dst: dst.replace(/\/32$/, ""),
      ...(via === undefined ? {} : { gateway: via }),
      dev: device,
    })),
  )

const route = (node: NodeState, network: string, via: string | undefined, device: string): CommandResult => {
  if (!hasDevice(node, device)) return failed(1, `Cannot find device "${device}"\n`)
  const reachable =
    via === undefined || hostAddresses(node).some((one) => one.device === device) || deviceTowards(node, via) === device
  if (!reachable) return failed(2, "Error: Nexthop has invalid gateway.\n")
  node.host.routes.set(network, { via, device })
  return ok()
}

/** Runs `ip` as far as a range manager uses it; undefined for any other command. */
export const ipCommand = (node: NodeState, words: readonly string[]): CommandResult | undefined => {
  const line = words.join(" ")
  if (line === "-json -4 address show") return ok(addresses(node))
  if (line === "-json -4 route show") return ok(routes(node))
  const given = /^address replace (\S+) dev (\S+)$/.exec(line)
  if (given !== null) {
    const [, address = "", device = ""] = given
    if (!hasDevice(node, device)) return failed(1, `Cannot find device "${device}"\n`)
    setHostAddress(node, device, address, true)
    return ok()
  }
  const flushed = /^address flush dev (\S+) to ([\d.]+)\/32$/.exec(line)
  if (flushed !== null) {
    const [, device = "", address = ""] = flushed
    if (!hasDevice(node, device)) return failed(1, `Device "${device}" does not exist.\n`)
    for (const one of hostAddresses(node))
      if (one.device === device && one.address.startsWith(`${address}/`)) setHostAddress(node, device, one.address, false)
    return ok()
  }
  const led = /^route replace (\S+)(?: via (\S+))? dev (\S+)$/.exec(line)
  return led === null ? undefined : route(node, led[1]!, led[2], led[3]!)
}

/** Runs commands on the node's own files; undefined for any other command. */
export const fileCommand = (
  { host: { files } }: NodeState,
  [program = "", ...args]: readonly string[],
  input: string,
): CommandResult | undefined => {
  if (program === "dd") {
    const path = args.find((arg) => arg.startsWith("of="))?.slice("of=".length)
    if (path === undefined || args.some((arg) => !/^(?:of=\/.+|conv=fsync|status=none)$/.test(arg))) return undefined
    files.set(path, input)
    return ok()
  }
  if (program === "mv" && args.length === 3 && args[0] === "-f") {
    const [, from = "", to = ""] = args
    const text = files.get(from)
    if (text === undefined) return failed(1, `mv: cannot stat '${from}': No such file or directory\n`)
    files.delete(from)
    files.set(to, text)
    return ok()
  }
  if (program === "rm" && args.length === 2 && args[0] === "-f") {
    files.delete(args[1]!)
    return ok()
  }
  if (program === "cat" && args.length === 1 && files.has(args[0]!)) return ok(files.get(args[0]!))
  const search = /^(\/\S+) -maxdepth 1 -type f -name (\S+)\*$/.exec(args.join(" "))
  if (program !== "find" || search === null) return undefined
  const prefix = `${search[1]}/${search[2]}`
  const found = [...files.keys()].filter((path) => path.startsWith(prefix) && !path.slice(search[1]!.length + 1).includes("/"))
  return ok(found.map((path) => `${path}\n`).join(""))
}
