import { describe, expect, test } from "vitest"
import { createLab, type Lab } from "./support/client.ts"

/** Makes calls at once; after how long they were answered, in milliseconds, and how: in the order of their answers. */
const atOnce = async (lab: Lab, calls: readonly (() => ReturnType<Lab["call"]>)[]): Promise<readonly string[]> => {
  lab.sim.calls.clear()
  const from = lab.clock.now()
  await Promise.all(calls.map((call) => call()))
  return lab.sim.calls.recent().map(({ at, path, status }) => `${at - from} ${path} ${status}`)
}

/** Calls of the agent of a guest whose agent is silent: each keeps its worker for 3 s. */
const slow = (lab: Lab, count: number, node = "pve1", vmid = 200) =>
  Array.from({ length: count }, () => () => lab.call("POST", `/nodes/${node}/qemu/${vmid}/agent/ping`))

const withSilentGuests = async (timing: Parameters<typeof createLab>[0] = {}): Promise<Lab> => {
  const lab = createLab({ nodes: 2, ...timing })
  for (const [vmid, node] of [
    [200, "pve1"],
    [201, "pve2"],
  ] as const) {
    await lab.task("POST", "/nodes/pve1/qemu/101/clone", { newid: vmid, ...(node === "pve1" ? {} : { target: node }) })
    await lab.task("POST", `/nodes/${node}/qemu/${vmid}/status/start`)
  }
  lab.sim.faults.add({ kind: "silent-agent" })
  lab.clock.advance(60_000)
  return lab
}

const workers = async (lab: Lab): Promise<Readonly<Record<string, unknown>>> => {
  const headers = { authorization: `Bearer ${lab.sim.controlToken}` }
  const { body } = await lab.sim.handle({ method: "GET", path: "/simulator/stats", headers })
  return (JSON.parse(body) as { data: { workers: Record<string, unknown> } }).data.workers
}

describe("the API's workers of a node", () => {
  test("serve three calls at once; further calls wait in order, those of other nodes and of the other daemon do not", async () => {
    const lab = await withSilentGuests()
    const read = () => lab.call("GET", "/nodes/pve1/qemu/200/config")
    const took = await atOnce(lab, [...slow(lab, 7), ...slow(lab, 1, "pve2", 201), read])
    const ping = "/nodes/pve1/qemu/200/agent/ping 500"
    expect(took.toSorted()).toEqual(
      [
        "0 /nodes/pve1/qemu/200/config 200",
        ...[3000, 3000, 3000, 6000, 6000, 6000, 9000].map((ms) => `${ms} ${ping}`),
        "3000 /nodes/pve2/qemu/201/agent/ping 500",
      ].toSorted(),
    )
    expect(await workers(lab)).toMatchObject({
      "pve1 pvedaemon": { busy: 0, waiting: 0, mostWaiting: 4, longestWait: 6000 },
      "pve2 pvedaemon": { mostWaiting: 0 },
    })
  })

  test("may be more, and may need time for every call", async () => {
    const lab = createLab({ timing: { apiWorkers: 4, request: 20 } })
    const took = await atOnce(
      lab,
      Array.from({ length: 10 }, () => () => lab.call("GET", "/version")),
    )
    expect(took).toEqual([20, 20, 20, 20, 40, 40, 40, 40, 60, 60].map((ms) => `${ms} /version 200`))
  })

  test("that take half a minute for a call answer 596 without a body, and do its work nevertheless", async () => {
    const lab = await withSilentGuests({ timing: { apiWorkers: 1, agentPing: 40_000 } })
    const change = () => lab.call("PUT", "/nodes/pve1/qemu/200/config", { description: "x" })
    const took = await atOnce(lab, [...slow(lab, 1), change])
    expect(took).toEqual(["30000 /nodes/pve1/qemu/200/agent/ping 596", "30000 /nodes/pve1/qemu/200/config 596"])
    expect(lab.sim.guest(200)?.config["description"]).not.toBe("x")
    lab.clock.advance(10_000)
    expect(lab.sim.guest(200)?.config["description"]).toBe("x")
  })

  test("are not occupied by a delayed answer or by a task", async () => {
    const lab = await withSilentGuests({ timing: { apiWorkers: 1 } })
    const took = await atOnce(lab, [
      ...Array.from({ length: 3 }, () => () => lab.call("GET", "/version", {}, { token: "root@pam!none=x" })),
      () => lab.call("POST", "/nodes/pve1/qemu/200/status/stop"),
      () => lab.call("PUT", "/nodes/pve2/qemu/201/config", { description: "y" }),
      () => lab.call("GET", "/version"),
    ])
    expect(took).toEqual([
      "0 /nodes/pve1/qemu/200/status/stop 200",
      "0 /nodes/pve2/qemu/201/config 200",
      "0 /version 200",
      ...Array.from({ length: 3 }, () => "3000 /version 401"),
    ])
  })
})
