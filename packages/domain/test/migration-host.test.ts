import { describe, expect, test } from "vitest"
import {
  hostCommands,
  type Installation,
  type MigrationAction,
  planMigration,
  planReturn,
  renderMigration,
  undoMigration,
} from "../src/index.ts"
import { bridge, firstGeneration, gatewayHost, keysOf, MigrationModel, node, options } from "./migration-model.ts"

const steered = (more: Partial<Installation> = {}): Installation =>
  firstGeneration({ nodes: [{ ...node("pve1", "10.0.0.1"), host: gatewayHost }, node("pve2", "10.0.0.2")], ...more })
const hostOf = (installation: Installation) => {
  const host = installation.nodes[0]?.host
  if (host?.type !== "seen") throw new Error("the node shows nothing")
  return host
}
const plan = (installation: Installation) => planMigration(installation, options)

describe("the gateway's address and its routes to ranges, where the node has a shell", () => {
  test("move with the networks: the address first, each route after its router, the old address last", () => {
    const made = plan(steered())
    expect(made.blockers).toEqual([])
    const keys = keysOf(made)
    expect(keys.filter((key) => /^(?:host|range|leave|bridge|reload)/u.test(key))).toEqual([
      "host-address:ludusnat",
      "range-route:LAB1",
      "range-route:LAB2",
      "bridge-address:pve1/vmbr1000",
      "reload-network:pve1",
      "leave-host:vmbr1000",
    ])
    const after = new Map(made.steps.map((step) => [step.key, step.after]))
    expect(after.get("host-address:ludusnat")).toEqual(["apply-sdn"])
    expect(after.get("verify-networks")).toContain("host-address:ludusnat")
    expect(after.get("range-route:LAB1")).toEqual(["move:111"])
    expect(after.get("range-route:LAB2")).toEqual(["verify-networks"])
    expect(after.get("bridge-address:pve1/vmbr1000")).toEqual(
      expect.arrayContaining(["range-route:LAB1", "verify-machines:pve1"]),
    )
    expect(after.get("leave-host:vmbr1000")).toContain("reload-network:pve1")
  })

  test("leave only the services to do by hand, and nothing at all once the migration is done", () => {
    const model = new MigrationModel(steered())
    const made = plan(model.installation)
    expect(made.byHand).toEqual(["On node pve1: let its DHCP and name service listen on ludusnat."])
    model.apply(made.steps)
    expect(plan(model.installation)).toMatchObject({ idle: "done", byHand: [] })
    const host = hostOf(model.installation)
    expect(host.addresses.toSorted((a, b) => (a.device < b.device ? 1 : -1))).toEqual([
      { device: "vmbr0", address: "10.0.0.1/24" },
      { device: "ludusnat", address: "192.0.2.254/24" },
    ])
    expect(host.routes.map(({ network, via, device }) => [network, via, device])).toEqual([
      ["192.0.2.101/32", undefined, "ludusnat"],
      ["10.1.0.0/16", "192.0.2.101", "ludusnat"],
      ["192.0.2.102/32", undefined, "ludusnat"],
      ["10.2.0.0/16", "192.0.2.102", "ludusnat"],
    ])
    expect(host.files["ludusnat"]).toContain("post-up ip route replace 10.2.0.0/16 via 192.0.2.102 dev ludusnat\n")
  })

  test("reach the same end after an interruption anywhere, there and back", () => {
    const whole = new MigrationModel(steered())
    const steps = plan(whole.installation).steps
    whole.apply(steps)
    const there = hostOf(whole.installation)
    for (let at = 1; at < steps.length; at++) {
      const model = new MigrationModel(steered())
      model.apply(steps, at)
      const rest = plan(model.installation)
      expect([at, rest.blockers]).toEqual([at, []])
      model.apply(rest.steps)
      expect(plan(model.installation).idle).toBe("done")
      expect({ ...hostOf(model.installation), addresses: hostOf(model.installation).addresses.length }).toMatchObject({
        routes: expect.arrayContaining([...there.routes]),
        files: there.files,
        addresses: 2,
      })
    }
    const back = planReturn(whole.installation, options)
    for (let at = 1; at <= back.steps.length; at++) {
      const model = new MigrationModel(whole.installation)
      model.apply(back.steps, at)
      const rest = planReturn(model.installation, options)
      expect([at, rest.blockers]).toEqual([at, []])
      model.apply(rest.steps)
      const { addresses, routes, files } = hostOf(model.installation)
      expect(addresses).toContainEqual({ device: "vmbr1000", address: "192.0.2.254/24" })
      expect(addresses.filter(({ device }) => device === "ludusnat")).toEqual([])
      expect(routes.every(({ device }) => device === "vmbr1000")).toBe(true)
      expect(Object.keys(files)).toEqual(["vmbr1000"])
      expect(model.installation.bridges.find(({ name }) => name === "vmbr1000")?.address).toBe("192.0.2.254/24")
    }
  })

  test("are as before when the preparation is undone, wherever it ended", () => {
    const { steps } = plan(steered())
    const prepared = steps.filter(({ phase }) => phase === "prepare")
    const model = new MigrationModel(steered())
    const begun = new Set(model.apply(prepared))
    model.apply(undoMigration(steps, begun, false) ?? [])
    expect(hostOf(model.installation)).toEqual(gatewayHost)
  })

  test("that existed before are not removed when a later preparation is undone", () => {
    const model = new MigrationModel(steered())
    model.apply(plan(model.installation).steps)
    const more = {
      ...model.installation,
      ranges: [...model.installation.ranges, { ...model.installation.ranges[0]!, number: 3 }],
    }
    const { steps } = plan({
      ...more,
      ranges: more.ranges.map((one, at) => (at === 2 ? { ...one, id: "LAB3" as typeof one.id } : one)),
    })
    expect(keysOf({ steps })).toEqual(expect.arrayContaining(["host-address:ludusnat", "range-route:LAB3"]))
    const undo = undoMigration(steps, new Set(["host-address:ludusnat"]), false)
    expect(undo).toEqual([])
  })

  test("keep a bridge that other settings than the address may need, with a warning", () => {
    const made = plan(steered())
    expect(made.warnings).toContain(
      "the bridge vmbr1000 on node pve1 stays: other settings may depend on it, such as masquerading",
    )
    expect(keysOf(made)).not.toContain("remove-bridge:pve1/vmbr1000")
  })

  test("do not mistake somebody else's edit of the bridge for their own", () => {
    const model = new MigrationModel(steered())
    model.apply(plan(model.installation).steps)
    const bridges = [...model.installation.bridges, bridge("vmbr1002")]
    const nodes = model.installation.nodes.map((one) =>
      one.name === "pve1" ? { ...one, pending: [{ name: "vmbr1000", change: "changed" as const }] } : one,
    )
    expect(plan({ ...model.installation, nodes, bridges }).blockers.map(({ message }) => message)).toEqual([
      "node pve1 has pending network changes that are not ours (vmbr1000 is changed), and a reload would apply them",
    ])
  })

  test("block the migration while the shell does not answer", () => {
    const silent = steered({
      nodes: [{ ...node("pve1", "10.0.0.1"), host: { type: "silent", because: "no route to host" } }, node("pve2", "10.0.0.2")],
    })
    expect(plan(silent).blockers).toEqual([
      {
        code: "host-silent",
        message: "the routes to ranges are on node pve1, but its shell does not answer (no route to host)",
        hint: "Fix the SSH access to node pve1, or remove its configuration: then the plan lists what to do by hand.",
      },
    ])
  })

  test("belong to the node that the settings name, where several have the address", () => {
    const everywhere = steered({
      bridges: ["pve1", "pve2"].map((at) => bridge("vmbr1000", { node: at, address: "192.0.2.254/24" })),
    })
    expect(plan(everywhere).byHand[0]).toContain("node pve1")
    expect(planMigration(everywhere, { ...options, gatewayNode: "pve2" }).byHand[0]).toContain("On node pve2: give ludusnat")
  })
})

describe("where the node has no shell", () => {
  test("the plan lists the exact commands, after which nothing is left to do by hand", () => {
    const text = renderMigration(plan(firstGeneration()))
    for (const line of [
      "dd of=/etc/network/interfaces.d/.rangewright-ludusnat conv=fsync status=none <<'END'",
      "\tpost-up ip route replace 10.1.0.0/16 via 192.0.2.101 dev ludusnat",
      "ip address replace 192.0.2.254/24 dev ludusnat",
      "ip route replace 192.0.2.102/32 dev ludusnat",
      "ip route replace 10.2.0.0/16 via 192.0.2.102 dev ludusnat",
    ])
      expect(text).toContain(line)
    expect(keysOf(plan(firstGeneration())).some((key) => key.startsWith("host"))).toBe(false)
  })
})

test("no command is put together by a shell", () => {
  const actions = plan(steered()).steps.map(({ action }: { readonly action: MigrationAction }) => action)
  const words = actions.flatMap((action) =>
    action.kind === "host-address" || action.kind === "range-route" || action.kind === "leave-host"
      ? hostCommands(action).flatMap(({ program, args }) => [program, ...args])
      : [],
  )
  expect(words.length).toBeGreaterThan(10)
  for (const word of words) expect(word).toMatch(/^[\w./=-]+$/u)
})
