import { nicsOf } from "../core/guest-config.ts"
import { sleep, type Routine } from "../core/routine.ts"
import type { TaskRecord } from "../core/state.ts"
import { nodeOf, optionalNumber, optionalText, spawn, text, type Call, type Handler, type Routes } from "../http/call.ts"
import { cpuFlags, cpuModels } from "../schema/named-strings.ts"
import { methods } from "../schema/schema.ts"
import { visibleModels } from "./cpu-models.ts"

// Services

const names = methods.get("GET /nodes/{node}/services/{service}/state")?.parameters["service"]?.enum ?? []

const hasService = (call: Call, service: string): boolean => service !== "corosync" || call.world.state.nodes.size > 1

const serviceState = (call: Call, service: string) => ({
  service,
  name: service,
  desc: `The service ${service}`,
  ...(hasService(call, service)
    ? { state: "running", "active-state": "active", "unit-state": "enabled" }
    : { state: "dead", "active-state": "inactive", "unit-state": "enabled" }),
})

/** All services run, and cannot be stopped. */
const serviceTask =
  (type: string): Handler =>
  (call) => {
    const { world } = call
    return spawn(call, type, text(call, "service"), function* (): Routine<void> {
      yield* sleep(world.clock, world.timing.configTask)
    })
  }

const services: Routes = {
  "GET /nodes/{node}/services": (call) => names.map((service) => serviceState(call, service)),
  "GET /nodes/{node}/services/{service}": () => ["state", "start", "stop", "restart", "reload"].map((subdir) => ({ subdir })),
  "GET /nodes/{node}/services/{service}/state": (call) => serviceState(call, text(call, "service")),
  "POST /nodes/{node}/services/{service}/reload": serviceTask("srvreload"),
  "POST /nodes/{node}/services/{service}/restart": serviceTask("srvrestart"),
}

// Logs

const netstat = (call: Call): unknown[] =>
  [...call.world.state.guests.values()]
    .filter(({ node, status }) => node === nodeOf(call).name && status === "running")
    .flatMap(({ vmid, config }) =>
      nicsOf(config).map(({ index }) => ({ vmid: String(vmid), dev: `net${index}`, in: "0", out: "0" })),
    )

const stamp = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")

/** A task's lines in the node's log, each with its time. */
const linesOf = (node: string, task: TaskRecord): (readonly [number, string])[] => {
  const user = task.tokenid === undefined ? task.user : `${task.user}!${task.tokenid}`
  const line = (at: number, message: string) =>
    [
      at,
      `${new Date(at * 1000).toUTCString().slice(8, 11)} ${stamp(at).slice(8, 19)} ${node} pvedaemon[${task.pid}]: <${user}> ${message}`,
    ] as const
  return [
    line(task.starttime, `starting task ${task.upid}`),
    ...(task.exitstatus === undefined ? [] : [line(task.endtime ?? task.starttime, `end task ${task.upid} ${task.exitstatus}`)]),
  ]
}

/** The node's log: the beginnings and ends of tasks. */
const syslog = (call: Call): unknown[] => {
  const node = nodeOf(call)
  const service = optionalText(call, "service")
  const since = optionalText(call, "since") ?? ""
  const until = optionalText(call, "until") ?? "9999"
  const tasks = node.tasks.flatMap((upid) => call.world.state.tasks.get(upid) ?? [])
  const lines = (service ?? "pvedaemon") === "pvedaemon" ? tasks.flatMap((task) => linesOf(node.name, task)) : []
  const wanted = lines
    .toSorted(([a], [b]) => a - b)
    .filter(([at]) => stamp(at) >= since && stamp(at) <= until)
    .map(([, t], index) => ({ n: index + 1, t }))
  const from = optionalNumber(call, "start") ?? 0
  call.beside["total"] = Math.max(1, wanted.length)
  return wanted.length === 0 ? [{ n: 1, t: "no content" }] : wanted.slice(from, from + (optionalNumber(call, "limit") ?? 50))
}

// Capabilities of virtual machines

const vendorOf = (model: string): string =>
  /^(?:EPYC|Opteron|athlon|phenom)/u.test(model)
    ? "AuthenticAMD"
    : /^(?:host|kvm|max|qemu|x86-64)/u.test(model)
      ? "default"
      : "GenuineIntel"

const models = (call: Call): unknown[] => [
  ...[...cpuModels].map((name) => ({ name, custom: 0, vendor: vendorOf(name) })),
  ...visibleModels(call).map(([name, options]) => ({
    name: `custom-${name}`,
    custom: 1,
    vendor: vendorOf(String(options["reported-model"] ?? "kvm64")),
  })),
]

const versions = ["10.1", "10.0", "9.2", "9.1", "9.0", "8.2", "8.1", "8.0"]

const machines = () =>
  (["i440fx", "q35"] as const).flatMap((type) => versions.map((version) => ({ id: `pc-${type}-${version}`, type, version })))

const capabilities: Routes = {
  "GET /nodes/{node}/capabilities": () => [{ name: "qemu" }],
  "GET /nodes/{node}/capabilities/qemu": () => ["cpu", "cpu-flags", "machines", "migration"].map((name) => ({ name })),
  "GET /nodes/{node}/capabilities/qemu/cpu": models,
  "GET /nodes/{node}/capabilities/qemu/cpu-flags": () => [...cpuFlags].map((name) => ({ name })),
  "GET /nodes/{node}/capabilities/qemu/machines": machines,
  "GET /nodes/{node}/capabilities/qemu/migration": () => ({ "has-dbus-vmstate": 0 }),
  "GET /cluster/qemu": () => ["custom-cpu-models", "cpu-flags"].map((subdir) => ({ subdir })),
  "GET /cluster/qemu/cpu-flags": (call) =>
    [...cpuFlags].map((name) => ({ name, "supported-on": [...call.world.state.nodes.keys()] })),
}

/** Reports of nodes: services, counters, log, capabilities. */
export const nodeReportRoutes: Routes = {
  ...services,
  ...capabilities,
  "GET /nodes/{node}/netstat": netstat,
  "GET /nodes/{node}/syslog": syslog,
  "GET /nodes/{node}/subscription": () => ({ status: "notfound", message: "There is no subscription key" }),
  "GET /nodes/{node}/storage/{storage}/rrddata": () => [],
  ...Object.fromEntries(
    [
      "nodes/{node}/replication",
      "cluster/replication",
      "cluster/mapping/dir",
      "cluster/mapping/pci",
      "cluster/mapping/usb",
      "cluster/metrics/server",
    ].map((path) => [`GET /${path}`, () => []]),
  ),
}
