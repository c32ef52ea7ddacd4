import { describe, expect, test } from "vitest"
import { createLab, type Lab } from "./support/client.ts"

/** Three nodes, and managed guests 200, 201, … that run, all on the first. */
const managed = async (guests: number): Promise<Lab> => {
  const lab = createLab({ nodes: 3 })
  for (let vmid = 200; vmid < 200 + guests; vmid += 1) {
    await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: vmid })
    await lab.ok("POST", "/cluster/ha/resources", { sid: `vm:${vmid}` })
  }
  lab.clock.advance(120_000)
  return lab
}

const nodes = (lab: Lab): readonly (string | undefined)[] =>
  [200, 201, 202].flatMap((vmid) => (lab.sim.guest(vmid) === undefined ? [] : [lab.sim.guest(vmid)?.node]))
const rule = async (lab: Lab, parameters: Record<string, unknown>): Promise<void> => {
  await lab.ok("POST", "/cluster/ha/rules", { rule: "one", ...parameters })
  lab.clock.advance(120_000)
}
const apart = { type: "resource-affinity", affinity: "negative", resources: "vm:200,vm:201" }
const together = { ...apart, affinity: "positive" }

describe("a rule that keeps resources", () => {
  test("apart moves one away, and prevents moving one to the other", async () => {
    const lab = await managed(2)
    await rule(lab, apart)
    const [first, second] = nodes(lab)
    expect([first, second]).toEqual(["pve1", expect.stringMatching(/pve[23]/u)])
    expect(await lab.ok("POST", "/cluster/ha/resources/vm:201/migrate", { node: "pve1" })).toEqual({
      sid: "vm:201",
      "requested-node": "pve1",
      "blocking-resources": [{ sid: "vm:200", cause: "resource-affinity" }],
    })
    expect(await lab.task("POST", `/nodes/${second}/qemu/201/migrate`, { target: "pve1", online: 1 })).toContain("cannot migrate")
    lab.clock.advance(120_000)
    expect(nodes(lab)).toEqual([first, second])
  })

  test("together brings them together, and they move as one", async () => {
    const lab = await managed(2)
    await lab.ok("POST", "/cluster/ha/resources/vm:201/migrate", { node: "pve3" })
    lab.clock.advance(60_000)
    expect(nodes(lab)).toEqual(["pve1", "pve3"])
    await rule(lab, together)
    expect(nodes(lab)).toEqual(["pve1", "pve1"])
    expect(await lab.ok("POST", "/cluster/ha/resources/vm:200/migrate", { node: "pve2" })).toMatchObject({
      "comigrated-resources": ["vm:201"],
    })
    lab.clock.advance(60_000)
    expect(nodes(lab)).toEqual(["pve2", "pve2"])
  })

  test("on nodes moves them to the preferred one that is up, and back to it", async () => {
    const lab = await managed(1)
    await rule(lab, { type: "node-affinity", resources: "vm:200", nodes: "pve2:2,pve3" })
    expect(nodes(lab)).toEqual(["pve2"])
    const off = lab.sim.faults.add({ kind: "node-off", node: "pve2" })
    lab.clock.advance(300_000)
    expect([nodes(lab), lab.sim.guest(200)?.status]).toEqual([["pve3"], "running"])
    lab.sim.faults.remove(off)
    lab.clock.advance(120_000)
    expect(nodes(lab)).toEqual(["pve2"])
    await lab.ok("PUT", "/cluster/ha/rules/one", { type: "node-affinity", nodes: "pve3", strict: 1 })
    lab.clock.advance(120_000)
    expect(nodes(lab)).toEqual(["pve3"])
    expect(await lab.ok("POST", "/cluster/ha/resources/vm:200/migrate", { node: "pve1" })).toMatchObject({
      "blocking-resources": [{ sid: "vm:200", cause: "node-affinity" }],
    })
  })

  test("on nodes strictly leaves a guest of a fenced node where it is until one of them is up", async () => {
    const lab = await managed(1)
    const [home, other] = ["pve2", "pve3"] as const
    await rule(lab, { type: "node-affinity", resources: "vm:200", nodes: home, strict: 1 })
    lab.sim.faults.add({ kind: "node-off", node: home })
    lab.clock.advance(600_000)
    expect([nodes(lab), lab.sim.guest(200)?.status]).toEqual([[home], "stopped"])
    await lab.ok("PUT", "/cluster/ha/rules/one", { type: "node-affinity", nodes: `${home}:2,${other}`, strict: 1 })
    lab.clock.advance(120_000)
    expect([nodes(lab), lab.sim.guest(200)?.status]).toEqual([[other], "running"])
  })
})

describe("rules of high availability", () => {
  test("are listed, changed and removed; one that is disabled moves nothing", async () => {
    const lab = await managed(2)
    await rule(lab, { ...apart, disable: 1, comment: "later" })
    expect(nodes(lab)).toEqual(["pve1", "pve1"])
    const shown = { rule: "one", type: "resource-affinity", affinity: "negative", resources: "vm:200,vm:201", disable: 1 }
    expect(await lab.ok("GET", "/cluster/ha/rules?type=resource-affinity&resource=vm:200")).toMatchObject([shown])
    expect(await lab.ok("GET", "/cluster/ha/rules?type=node-affinity")).toEqual([])
    await lab.ok("PUT", "/cluster/ha/rules/one", { type: "resource-affinity", delete: "disable,comment" })
    expect(await lab.ok("GET", "/cluster/ha/rules/one")).not.toHaveProperty("comment")
    lab.clock.advance(120_000)
    expect(new Set(nodes(lab)).size).toBe(2)
    await lab.ok("DELETE", "/cluster/ha/rules/one")
    expect((await lab.call("GET", "/cluster/ha/rules/one")).message).toBe("no such ha rule 'one'\n")
  })

  test("are refused with what is wrong with them", async () => {
    const lab = await managed(2)
    const refused = async (parameters: Record<string, unknown>) =>
      (await lab.call("POST", "/cluster/ha/rules", { rule: "two", ...parameters })).message
    expect(await refused({ ...apart, resources: "vm:200" })).toBe(
      "create ha rule failed: 400 Rule 'two' is invalid.\nresources: rule is ineffective as there are less than two resources\n",
    )
    expect(await refused({ ...apart, resources: "vm:200,vm:999" })).toContain("cannot use unmanaged resource(s) vm:999.")
    expect(await refused({ type: "node-affinity", resources: "vm:200", nodes: "pve9" })).toContain("node(s) pve9.")
    expect(await refused({ type: "node-affinity", resources: "vm:200" })).toContain("'nodes'")
    await rule(lab, apart)
    expect((await lab.call("POST", "/cluster/ha/rules", { rule: "one", ...apart })).message).toContain("already defined")
    const small = createLab({ nodes: 1 })
    for (const vmid of [200, 201]) {
      await small.task("POST", "/nodes/pve/qemu/101/clone", { newid: vmid })
      await small.ok("POST", "/cluster/ha/resources", { sid: `vm:${vmid}`, state: "stopped" })
    }
    expect((await small.call("POST", "/cluster/ha/rules", { rule: "two", ...apart })).message).toBe(
      "create ha rule failed: 400 Rule 'two' is invalid.\nresources: rule defines more resources than available nodes\n",
    )
  })

  test("drop a removed guest, and are removed with their last one", async () => {
    const lab = await managed(2)
    await rule(lab, apart)
    for (const [vmid, left] of [
      [200, ["vm:201"]],
      [201, []],
    ] as const) {
      await lab.ok("PUT", `/cluster/ha/resources/vm:${vmid}`, { state: "stopped" })
      lab.clock.advance(60_000)
      expect(await lab.task("DELETE", `/nodes/${lab.sim.guest(vmid)?.node}/qemu/${vmid}?purge=1`)).toBe("OK")
      const rules = (await lab.ok("GET", "/cluster/ha/rules")) as { resources: string }[]
      expect(rules.map(({ resources }) => resources)).toEqual(left)
    }
  })

  test("replaced groups", async () => {
    const lab = await managed(1)
    expect((await lab.call("GET", "/cluster/ha/groups")).message).toBe(
      "cannot index groups: ha groups have been migrated to rules\n",
    )
    expect((await lab.call("PUT", "/cluster/ha/resources/vm:200", { group: "old" })).message).toContain("migrated to rules")
  })
})

test("the manager's state is in its status and in the cluster's list", async () => {
  const lab = await managed(1)
  const ids = async () => ((await lab.ok("GET", "/cluster/ha/status/current")) as { id: string }[]).map(({ id }) => id)
  expect(await ids()).toEqual(["quorum", "master", "fencing", "lrm:pve1", "lrm:pve2", "lrm:pve3", "service:vm:200"])
  await lab.ok("POST", "/cluster/ha/resources/vm:200/migrate", { node: "pve2" })
  const seen = async () =>
    ((await lab.ok("GET", "/cluster/resources")) as { id: string; hastate?: string }[]).flatMap(({ id, hastate }) =>
      hastate === undefined ? [] : [`${id} ${hastate}`],
    )
  const online = ["pve1", "pve2", "pve3"].map((name) => `node/${name} online`)
  expect(await seen()).toEqual(["qemu/200 migrate", ...online])
  lab.clock.advance(60_000)
  expect(await seen()).toEqual(["qemu/200 started", ...online])
  await lab.ok("DELETE", "/cluster/ha/resources/vm:200")
  expect(await seen()).toEqual([])
  expect(await ids()).toEqual(["quorum", "fencing"])
})
