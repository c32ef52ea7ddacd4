import { isCluster, natNetworkName, type ObservedCluster } from "@rangewright/domain"
import { Hypervisor, HypervisorAccess, HypervisorNetwork, NodeShell, type ObservedNetwork } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Config, hypervisorKind } from "../config/config.ts"
import { fail, ok, warn, type Finding } from "./finding.ts"

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(0)} GiB`
/** POST and DELETE on /pools, which nested range ids need, exist since 8.1. */
const leastVersion = [8, 1] as const
const routerTemplate = "debian-11-x64-server-template"

const isOldVersion = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number)
  return major < leastVersion[0] || (major === leastVersion[0] && minor < leastVersion[1])
}

const reached = Effect.gen(function* () {
  const hypervisor = yield* Hypervisor
  const version = yield* hypervisor.version
  return isOldVersion(version)
    ? fail("version", `Proxmox VE ${version}`, `Upgrade to ${leastVersion.join(".")} or newer.`)
    : ok("version", `Proxmox VE ${version}`)
})

/** A single finding when no privilege is missing, else one for each blocked feature. All features depend on the first. */
const rights = Effect.gen(function* () {
  const access = yield* HypervisorAccess
  const features = yield* access.privileges
  const all = new Set(features.flatMap(({ privileges }) => [...privileges.keys()]))
  const blocked = features.flatMap(({ feature, privileges }, index) => {
    const missing = [...privileges].filter(([, has]) => !has).map(([name]) => name)
    const say = index === 0 ? fail : warn
    return missing.length === 0
      ? []
      : [
          say(
            "rights",
            `the token lacks ${missing.join(", ")}, which blocks ${feature}`,
            "Give the token's role these privileges on these paths; docs/guides/install.md lists the commands.",
          ),
        ]
  })
  return blocked.length === 0 ? [ok("rights", `the token has all ${all.size} privileges that it needs`)] : blocked
})

const clockOf = (config: Config) =>
  Effect.gen(function* () {
    // it is fast on purpose, and nobody can do anything about the difference
    if (hypervisorKind(config) === "simulator")
      return ok("clock", `the simulator's, which runs ${config.simulatorSpeed} times as fast as a real one`)
    const hypervisor = yield* Hypervisor
    const before = Date.now()
    const theirs = (yield* hypervisor.clock).getTime()
    const offset = Math.round((theirs - (before + Date.now()) / 2) / 1000)
    return Math.abs(offset) > 30
      ? warn("clock", `the hypervisor's clock differs by ${offset} s`, "Set up time synchronisation on both hosts.")
      : ok("clock", `within ${Math.abs(offset)} s of the hypervisor's`)
  })

const nodesOf = (cluster: ObservedCluster): Finding => {
  const down = cluster.nodes.filter((n) => !n.online).map((n) => n.name)
  const up = cluster.nodes.length - down.length
  return down.length === 0
    ? ok("nodes", `${up} online: ${cluster.nodes.map((n) => n.name).join(", ")}`)
    : warn("nodes", `${down.join(", ")} offline, ${up} online`, "Machines on these nodes cannot be changed until they are back.")
}

const storagesOf = (cluster: ObservedCluster): Finding => {
  const images = cluster.storages.filter((s) => s.active && s.content.includes("images"))
  if (images.length === 0)
    return fail("storage", "no active storage accepts disk images", "Enable content type `images` on a storage.")
  const full = images.filter((s) => s.totalBytes > 0 && s.usedBytes / s.totalBytes > 0.9)
  const text = images.map((s) => `${s.name}@${s.node} ${gib(s.totalBytes - s.usedBytes)} free`).join(", ")
  return full.length === 0
    ? ok("storage", text)
    : warn("storage", text, `Free some space on ${full.map((s) => `${s.name}@${s.node}`).join(", ")}: more than 90 % is used.`)
}

/** The storage in `proxmox_vm_storage_pool`, used for full clones; no finding when not set. */
const cloneStorageOf = ({ vmStorage }: Config, cluster: ObservedCluster): readonly Finding[] => {
  if (vmStorage === undefined) return []
  const what = "clone storage"
  const named = cluster.storages.filter(({ name }) => name === vmStorage)
  const able = (storages: ObservedCluster["storages"]) => storages.filter((s) => s.active && s.content.includes("images"))
  const others = [...new Set(able(cluster.storages).map(({ name }) => name))].join(", ")
  const choose = `Set proxmox_vm_storage_pool to another one (${others === "" ? "none accepts disk images" : others}), or leave it unset, so that full clones go where their template is.`
  if (named.length === 0) return [fail(what, `there is no storage ${vmStorage} that the token can see`, choose)]
  if (!named.some(({ content }) => content.includes("images")))
    return [fail(what, `${vmStorage} does not accept disk images`, `Enable its content type \`images\`. ${choose}`)]
  const here = new Set(able(named).map(({ node }) => node))
  const without = cluster.nodes.filter(({ online, name }) => online && !here.has(name)).map(({ name }) => name)
  if (here.size === 0) return [fail(what, `${vmStorage} is not active`, `Bring it up. ${choose}`)]
  return without.length === 0
    ? [ok(what, `${vmStorage} on ${[...here].join(", ")}`)]
    : [warn(what, `${vmStorage} is not on ${without.join(", ")}`, `Full clones cannot be created there. ${choose}`)]
}

const templatesOf = (cluster: ObservedCluster): Finding => {
  const names = [...new Set(cluster.machines.filter((m) => m.template).map((m) => m.name ?? `VM ${m.vmid}`))]
  return names.includes(routerTemplate)
    ? ok("templates", names.join(", "))
    : warn(
        "templates",
        names.length === 0 ? "none is visible" : names.join(", "),
        `Build ${routerTemplate}, the routers' template, or set router.template in the configurations to another one; templates belong in the pool SHARED.`,
      )
}

/** Routers have a network card with a VLAN tag: they do not start on a plain bridge. */
const usableNetwork = (name: string, { spec, usable, vlanAware }: ObservedNetwork): Finding => {
  if (!vlanAware)
    return fail(
      "network",
      `${name} (${spec.type}) is not VLAN-aware, so routers do not start on it`,
      spec.type === "bridge"
        ? `Tick "VLAN aware" of ${name} on its node (System > Network) and apply the configuration, or write "bridge-vlan-aware yes" and "bridge-vids 2-4094" below it in /etc/network/interfaces and run ifreload -a.`
        : `Tick "VLAN Aware" of ${name} (Datacenter > SDN > VNets) and apply the SDN.`,
    )
  return usable
    ? ok("network", `${name} (${spec.type}, VLAN-aware)`)
    : warn("network", `${name} has not been applied yet`, "Apply the pending network configuration on the hypervisor.")
}

const networkOf = (config: Config, cluster: ObservedCluster) =>
  Effect.gen(function* () {
    const network = yield* HypervisorNetwork
    const name = config.natNetwork ?? natNetworkName(isCluster(config.clusterMode, cluster.nodes))
    const networks = yield* network.observe
    const found = networks.find((n) => n.spec.name === name)
    return found === undefined
      ? fail(
          "network",
          `there is no ${name}, the network of the routers' outer side`,
          isCluster(config.clusterMode, cluster.nodes)
            ? "`npm start -- migrate sdn` creates it, whether or not there are ranges to move. Or set ludus_nat_interface to another one."
            : "Create it, VLAN-aware and with 192.0.2.254/24 on the host, or set ludus_nat_interface to another one.",
        )
      : usableNetwork(name, found)
  })

/** The zone of the ranges' VNets on each node; no finding when ranges use bridges. */
const zoneOf = (config: Config, cluster: ObservedCluster): readonly Finding[] => {
  if (!isCluster(config.clusterMode, cluster.nodes)) return []
  const ours = (cluster.zones ?? []).filter(({ zone }) => zone === config.sdnZone)
  const behind = ours.filter(({ state }) => state !== "available")
  const [first] = ours
  if (first === undefined)
    return [
      fail(
        "zone",
        `the SDN zone ${config.sdnZone} does not exist`,
        "`npm start -- migrate sdn --create-zone` creates it and migrates bridges to VNets; `migrate status` shows the command that only creates it. Or set sdn_zone to another one.",
      ),
    ]
  return behind.length === 0
    ? [ok("zone", `${first.zone} is applied on ${ours.map(({ node }) => node).join(", ")}`)]
    : [
        warn(
          "zone",
          `${first.zone} is outdated on ${behind.map(({ node, state }) => `${node} (${state})`).join(", ")}`,
          "A deploy that needs such a node applies the SDN again; if that does not help, check that node's network reload task.",
        ),
      ]
}

const shellOf = Effect.map(NodeShell, ({ available }) =>
  available
    ? ok("shell", "commands can be run on the node")
    : ok("shell", "no SSH to the node is configured; diagnostics do not include its measurements"),
)

/** A check that fails to run is a finding too. */
const attempt = <R>(
  what: string,
  check: Effect.Effect<Finding | readonly Finding[], { readonly message: string; readonly hint: string | undefined }, R>,
): Effect.Effect<readonly Finding[], never, R> =>
  Effect.map(
    Effect.result(check),
    Result.match({
      onSuccess: (found) => [found].flat(),
      onFailure: (fault) => [
        fail(
          what,
          fault.message,
          fault.hint ?? "Check proxmox_url and the network to it, proxmox_fingerprint or proxmox_ca_file, and the token.",
        ),
      ],
    }),
  )

/** Everything about the hypervisor; when it is unreachable, only that. */
export const checkHypervisor = (config: Config) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const first = yield* attempt("hypervisor", reached)
    if (first.some(({ what }) => what === "hypervisor")) return first
    const observed = yield* Effect.result(hypervisor.observe)
    if (Result.isFailure(observed))
      return [...first, fail("cluster", observed.failure.message, observed.failure.hint ?? "Check the state of the cluster.")]
    const cluster = observed.success
    return [
      ...first,
      ...(yield* attempt("rights", rights)),
      ...(yield* attempt("clock", clockOf(config))),
      nodesOf(cluster),
      storagesOf(cluster),
      ...cloneStorageOf(config, cluster),
      templatesOf(cluster),
      ...(yield* attempt("network", networkOf(config, cluster))),
      ...zoneOf(config, cluster),
      yield* shellOf,
    ]
  })
