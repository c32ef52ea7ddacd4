import { readdirSync } from "node:fs"
import { expect, test } from "vitest"
import { matchRoute, normalisePath } from "../src/http/router.ts"
import { routes } from "../src/api/routes.ts"
import { createLab, type Lab } from "./support/client.ts"
import { hasReference, readReferenceJson, referencePath, whenPresent } from "./support/reference.ts"

interface Exchange {
  readonly request: { readonly method: string; readonly path: string }
  readonly response: { readonly status: number; readonly body_raw: string }
}

/** Types of scalars; numbers and texts that hold one count as the same, as they do for the server. */
const typeOf = (value: unknown): string => {
  if (value === null) return "null"
  if (typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value)) return "number"
  return typeof value
}

/** Every path inside a value with the types that stand there; names that are data (ids, tokens) are left to the caller. */
const shapeOf = (value: unknown, at: string, out: Map<string, Set<string>>): void => {
  if (Array.isArray(value)) {
    for (const item of value) shapeOf(item, `${at}[]`, out)
    return
  }
  if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Object.entries(value)) shapeOf(inner, `${at}.${key}`, out)
    return
  }
  const types = out.get(at) ?? new Set<string>()
  types.add(typeOf(value))
  out.set(at, types)
}

/** Shapes of all recorded successful reads of a current server, by route. */
const recordedShapes = (): Map<string, Map<string, Set<string>>> => {
  const out = new Map<string, Map<string, Set<string>>>()
  for (const file of readdirSync(referencePath("fixtures/wire"))) {
    if (!file.startsWith("gosdk_")) continue
    for (const { request, response } of readReferenceJson<readonly Exchange[]>(`fixtures/wire/${file}`)) {
      const match = matchRoute(request.method, normalisePath(request.path.replace("/api2/json", "").split("?")[0]!))
      if (match === undefined || request.method !== "GET" || response.status !== 200) continue
      const shape = out.get(match.key) ?? new Map<string, Set<string>>()
      shapeOf((JSON.parse(response.body_raw) as { data: unknown }).data, "", shape)
      out.set(match.key, shape)
    }
  }
  return out
}

const firewalls = ["/cluster/firewall", "/nodes/pve1/firewall", "/nodes/pve1/qemu/200/firewall"]

/** A machine that has everything, and the paths to look at. */
const furnish = async (lab: Lab): Promise<Record<string, string>> => {
  await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: 200, name: "web", pool: "SHARED" })
  await lab.ok("PUT", "/nodes/pve1/qemu/200/config", { tags: "b,a", net0: "virtio,bridge=vmbr1000", description: "x" })
  const upid = String(await lab.ok("POST", "/nodes/pve1/qemu/200/status/start"))
  await lab.settle(upid)
  await lab.ok("POST", "/access/groups", { groupid: "crew", comment: "x" })
  await lab.ok("POST", "/access/users", { userid: "ann@pve", groups: "crew", comment: "x", email: "a@b.cd" })
  await lab.ok("PUT", "/access/acl", { path: "/vms", roles: "PVEVMUser", groups: "crew" })
  await lab.ok("POST", "/cluster/sdn/zones", { type: "simple", zone: "one" })
  await lab.ok("POST", "/cluster/sdn/vnets", { vnet: "vn1", zone: "one" })
  await lab.ok("POST", "/cluster/ha/resources", { sid: "vm:200", comment: "x" })
  await lab.ok("PUT", "/nodes/pve1/config", { description: "x", acme: "account=default", acmedomain0: "domain=lab.example" })
  await lab.ok("POST", "/cluster/firewall/groups", { group: "web", comment: "x" })
  for (const path of ["/cluster/firewall/groups/web", ...firewalls.map((base) => `${base}/rules`)])
    await lab.ok("POST", path, { type: "in", action: "ACCEPT", source: "10.0.0.1", comment: "x" })
  for (const base of firewalls.filter((each) => !each.endsWith("pve1/firewall"))) {
    await lab.ok("POST", `${base}/aliases`, { name: "ours", cidr: "10.0.0.0/24" })
    await lab.ok("POST", `${base}/ipset`, { name: "ours", comment: "x" })
    await lab.ok("POST", `${base}/ipset/ours`, { cidr: "10.0.0.1", comment: "x" })
  }
  await lab.ok("POST", "/cluster/sdn/vnets/vn1/firewall/rules", { type: "forward", action: "DROP" })
  await lab.ok("POST", "/cluster/backup", { id: "nightly", all: 1, schedule: "02:30" })
  lab.clock.advance(60_000)
  return {
    node: "pve1",
    vmid: "200",
    upid,
    storage: "local-lvm",
    poolid: "SHARED",
    userid: "ann@pve",
    groupid: "crew",
    roleid: "PVEVMUser",
    realm: "pve",
    zone: "one",
    vnet: "vn1",
    iface: "vmbr0",
    snapname: "current",
    group: "web",
    pos: "0",
    name: "ours",
    cidr: "10.0.0.1",
    id: "nightly",
    service: "pveproxy",
    ipam: "pve",
  }
}

/** What recorded servers show and the simulator leaves out, and why. */
const leftOut: readonly (readonly [RegExp, string])[] = [
  [/^GET \/cluster\/ha\/status\/current \[\]\.resource_mode is left out$/, "nobody disarms the manager"],
  [/^GET \/cluster\/resources \[\]\.lock is left out$/, "no guest is locked when the simulator is asked"],
]

test.skipIf(!hasReference)(
  `answers have the members and types of those recorded from a current server, except where explained${whenPresent}`,
  async () => {
    const lab = createLab({ nodes: ["pve1"] })
    const values = await furnish(lab)
    const differences: string[] = []
    let compared = 0
    for (const [key, recorded] of recordedShapes()) {
      if (!routes.has(key)) continue
      const path = key.slice(4).replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? name))
      const answer = await lab.call("GET", path)
      if (answer.status !== 200) continue
      compared += 1
      const shown = new Map<string, Set<string>>()
      shapeOf(answer.data, "", shown)
      for (const [at, types] of recorded) {
        const ours = shown.get(at)
        if (ours === undefined) differences.push(`${key} ${at} is left out`)
        else if (![...ours].some((type) => types.has(type)))
          differences.push(`${key} ${at} is ${[...ours].join("|")}, recorded as ${[...types].join("|")}`)
      }
    }
    expect(compared).toBeGreaterThan(10)
    for (const [pattern, reason] of leftOut)
      expect(
        differences.some((text) => pattern.test(text)),
        `no longer so: ${reason}`,
      ).toBe(true)
    expect(differences.filter((text) => !leftOut.some(([pattern]) => pattern.test(text)))).toEqual([])
  },
)

test.skipIf(!hasReference)(`every read answers as the schema promises, of SDN in each view${whenPresent}`, async () => {
  const lab = createLab({ nodes: ["pve1", "pve2"], sdnZone: "ludus" })
  const values = await furnish(lab)
  await lab.ok("POST", "/cluster/sdn/zones", { type: "vxlan", zone: "two", peers: "10.0.0.11,10.0.0.12" })
  await lab.ok("POST", "/cluster/sdn/vnets", { vnet: "r1", zone: "two", tag: 1001, vlanaware: 1 })
  await lab.task("PUT", "/cluster/sdn")
  await lab.ok("POST", "/cluster/sdn/vnets/vn1/subnets", { subnet: "10.9.0.0/24", type: "subnet", gateway: "10.9.0.1" })
  await lab.ok("POST", "/cluster/ha/rules", { rule: "near", type: "node-affinity", resources: "vm:200", nodes: "pve1:1,pve2" })
  await lab.ok("POST", "/cluster/qemu/custom-cpu-models", { cputype: "plain", "reported-model": "host", flags: "-hypervisor" })
  lab.sim.faults.add({ kind: "network-reload-fails", node: "pve2", text: "error" })
  await lab.task("PUT", "/cluster/sdn")
  // what waits to be applied shows too
  await lab.ok("PUT", "/cluster/sdn/vnets/r1", { alias: "x" })
  await lab.ok("POST", "/cluster/sdn/vnets", { vnet: "r2", zone: "two", tag: 1002 })
  const parameters: Record<string, string> = {
    ...values,
    subnet: "one-10.9.0.0-24",
    sid: "vm:200",
    rule: "near",
    cputype: "plain",
    storage: "vmstore",
  }
  const queries: readonly (readonly [RegExp, string])[] = [
    [/\/feature$/, "?feature=clone"],
    [/\/cloudinit\/dump$/, "?type=user"],
    [/\/rrddata$/, "?timeframe=hour"],
    [/\/query-url-metadata$/, "?url=https://images.example/a.iso"],
  ]
  // those that ask for something that is not there, and one for root alone
  const others =
    /backup-info$|vnets\/\{vnet\}\/firewall$|extractconfig|\/ha\/groups|websocket|\/(?:agent|exec-status)|tokens?\/|\/snapshot\/\{|\{volume\}/
  const refused: string[] = []
  let asked = 0
  for (const key of routes.keys()) {
    if (!key.startsWith("GET ") || others.test(key)) continue
    const path = key.slice(4).replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? name))
    const wanted = queries.find(([pattern]) => pattern.test(path))?.[1] ?? ""
    const views = /^\/cluster\/sdn\/(?:zones|vnets)(?!.*firewall)/.test(path) ? ["", "?pending=1", "?running=1"] : [wanted]
    for (const view of views) {
      asked += 1
      // the client holds every answer against the schema
      const { status, message } = await lab.call("GET", `${path}${view}`)
      if (status !== 200) refused.push(`${key}${view}: ${status} ${message}`)
    }
  }
  expect(refused).toEqual([])
  expect(asked).toBeGreaterThan(80)
})
