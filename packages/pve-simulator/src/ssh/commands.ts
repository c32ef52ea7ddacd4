import { PveError } from "../core/errors.ts"
import { start } from "../core/routine.ts"
import type { NodeState } from "../core/state.ts"
import type { World } from "../core/world.ts"
import { type CommandResult, ipCommand, fileCommand } from "./network-commands.ts"
import { reloadNetwork } from "../api/network.ts"
import { performAs } from "../http/handle.ts"
import type { Api } from "../http/handle.ts"
import { rootIdentity } from "../http/identity.ts"

const ok = (stdout: string): CommandResult => ({ exitCode: 0, stdout, stderr: "" })
const failed = (exitCode: number, stderr: string): CommandResult => ({ exitCode, stdout: "", stderr })

const verbs: Readonly<Record<string, string>> = { get: "GET", create: "POST", set: "PUT", delete: "DELETE" }

const optionShape = /^--?([a-z][\w-]*)$/i

/** Parses `--name value` and `-name value` after the path; a flag without a value is 1. */
const optionsOf = (words: readonly string[]): Record<string, unknown> | undefined => {
  const out: Record<string, unknown> = Object.create(null)
  for (let i = 0; i < words.length; i += 1) {
    const name = optionShape.exec(words[i]!)?.[1]
    if (name === undefined) return undefined
    const next = words[i + 1]
    const hasValue = next !== undefined && !optionShape.test(next)
    const value = hasValue ? next : "1"
    if (hasValue) i += 1
    const held = out[name]
    out[name] = held === undefined ? value : Array.isArray(held) ? [...(held as string[]), value] : [held, value]
  }
  return out
}

/** pvesh: calls the same API as root@pam. Errors go to standard error; the exit code is 0 or 255. */
const pvesh = async (api: Api, args: readonly string[]): Promise<CommandResult> => {
  const [command = "", path = "", ...rest] = args
  const verb = Object.hasOwn(verbs, command) ? verbs[command] : undefined
  const options = optionsOf(rest)
  if (verb === undefined || !path.startsWith("/") || options === undefined)
    return failed(255, "usage: pvesh <get|create|set|delete> <api_path> [OPTIONS]\n")
  delete options["output-format"]
  delete options["noborder"]
  delete options["quiet"]
  try {
    const data = await new Promise((resolve, reject) => {
      start(performAs(api, rootIdentity, verb, path, options), resolve, reject)
    })
    return ok(`${JSON.stringify(data ?? null)}\n`)
  } catch (error) {
    if (!(error instanceof PveError)) throw error
    const lines = Object.entries(error.errors ?? {}).map(([name, text]) => `${name}: ${text}\n`)
    return failed(255, `${error.status === 400 ? "400 " : ""}${error.message}\n${lines.join("")}`)
  }
}

const ifreload = (world: World, node: NodeState): Promise<CommandResult> =>
  new Promise((resolve) => {
    const said: string[] = []
    start(
      reloadNetwork(world, node, (line) => void said.push(line)),
      () => resolve(ok("")),
      () => resolve(failed(1, said.map((line) => `error: ${line}\n`).join(""))),
    )
  })

const unlock = (world: World, vmid: string): CommandResult => {
  const guest = world.state.guests.get(Number(vmid))
  if (guest === undefined) return failed(2, `Configuration file 'nodes/${vmid}.conf' does not exist\n`)
  delete guest.config["lock"]
  return ok("")
}

const lscpu = (node: NodeState): string =>
  [
    `Architecture:        x86_64`,
    `CPU(s):              ${node.cores}`,
    `Thread(s) per core:  2`,
    `Core(s) per socket:  ${node.cores / 2}`,
    `Socket(s):           1`,
    `Model name:          Simulated CPU`,
    `Virtualization:      VT-x`,
    "",
  ].join("\n")

const pveperf = (node: NodeState): string =>
  [
    `CPU BOGOMIPS:      ${node.cores * 6000}.00`,
    `REGEX/SECOND:      5000000`,
    `HD SIZE:           93.93 GB (/dev/mapper/pve-root)`,
    `BUFFERED READS:    2000.00 MB/sec`,
    `AVERAGE SEEK TIME: 0.06 ms`,
    `FSYNCS/SECOND:     3000.00`,
    "",
  ].join("\n")

const routes = (node: NodeState): string =>
  [...node.interfaces]
    .filter(([, iface]) => iface["cidr"] !== undefined)
    .map(([name, iface]) => {
      const network = String(iface["address"]).replace(/\.\d+$/, ".0")
      const via = iface["gateway"] === undefined ? "" : `default via ${iface["gateway"]} dev ${name} proto kernel onlink\n`
      return `${via}${network}/${iface["netmask"]} dev ${name} proto kernel scope link src ${iface["address"]}\n`
    })
    .join("")

/** The files of the cluster file system that can be read, made from the state. */
const file = (world: World, node: NodeState, path: string): CommandResult => {
  const guest = /^\/etc\/pve\/(?:nodes\/([^/]+)\/)?qemu-server\/(\d+)\.conf$/.exec(path)
  if (guest !== null) {
    const found = world.state.guests.get(Number(guest[2]))
    if (found !== undefined && found.node === (guest[1] ?? node.name)) {
      return ok(
        Object.entries(found.config)
          .map(([key, value]) => `${key}: ${value}\n`)
          .join(""),
      )
    }
  }
  if (path === "/etc/pve/.members")
    return ok(
      `${JSON.stringify({ nodename: node.name, nodelist: Object.fromEntries([...world.state.nodes.values()].map((each) => [each.name, { id: each.id, ip: each.address, online: 1 }])) })}\n`,
    )
  if (path === "/etc/pve/storage.cfg")
    return ok(
      [...world.state.storages.values()]
        .map((storage) => `${storage.type}: ${storage.id}\n\tcontent ${storage.content.join(",")}\n`)
        .join("\n"),
    )
  if (path === "/etc/hostname") return ok(`${node.name}\n`)
  return failed(1, `cat: ${path}: No such file or directory\n`)
}

/** Runs one command on a node as root, with this standard input; unknown commands exit with 127. */
export const runNodeCommand = async (api: Api, node: NodeState, words: readonly string[], input = ""): Promise<CommandResult> => {
  const { world } = api
  const [program = "", ...args] = words
  const whole = words.join(" ")
  if (program === "pvesh") return await pvesh(api, args)
  if (program === "pveversion") return ok("pve-manager/9.2.3/c5d1f8a2b7e60934 (running kernel: 6.17.4-1-pve)\n")
  if (program === "hostname") return ok(`${node.name}\n`)
  if (program === "true") return ok("")
  if (program === "echo") return ok(`${args.join(" ")}\n`)
  if (program === "lscpu") return ok(lscpu(node))
  if (program === "nproc") return ok(`${node.cores}\n`)
  if (program === "pveperf") return ok(pveperf(node))
  if (whole === "ip route" || whole === "ip route show") return ok(routes(node))
  if (whole === "ifreload -a") return await ifreload(world, node)
  if (program === "qm" && args[0] === "unlock" && args.length === 2) return unlock(world, args[1]!)
  const own = (program === "ip" ? ipCommand(node, args) : undefined) ?? fileCommand(node, words, input)
  if (own !== undefined) return own
  if (program === "cat" && args.length === 1) return file(world, node, args[0]!)
  return failed(127, `bash: line 1: ${program}: command not found\n`)
}
