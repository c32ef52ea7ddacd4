import { expect, test } from "vitest"
import { ConnectionReset } from "../src/index.ts"
import { createLab, passing, type Lab } from "./support/client.ts"

const description = (lab: Lab) => lab.sim.guest(100)?.config["description"]
const describe = async (lab: Lab, text: string) => await lab.call("PUT", "/nodes/pve/qemu/100/config", { description: text })
const match = { method: "PUT", path: "/nodes/*/qemu/*/config" }

test("an answer can be replaced before the call has its effect or after, once and no more", async () => {
  const lab = createLab()
  lab.sim.faults.add({ kind: "respond", match, when: "before", status: 500, message: "no quorum!" })
  expect(await describe(lab, "one")).toMatchObject({ status: 500, message: "no quorum!\n" })
  expect(description(lab)).toBe("")
  lab.sim.faults.add({ kind: "respond", match, when: "after", status: 596, message: "Connection timed out" })
  expect(await describe(lab, "two")).toMatchObject({ status: 596, body: "" })
  expect(description(lab)).toBe("two")
  expect((await describe(lab, "three")).status).toBe(200)
  expect(lab.sim.faults.list()).toEqual([])
})

test("a dropped connection rejects with ECONNRESET, with or without the effect", async () => {
  const lab = createLab()
  for (const when of ["before", "after"] as const) {
    lab.sim.faults.add({ kind: "drop", match, when })
    const error = await describe(lab, when).catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(ConnectionReset)
    expect(error).toMatchObject({ code: "ECONNRESET" })
  }
  expect(description(lab)).toBe("after")
})

test("only the n-th matching call is struck, and a permanent fault strikes until it is removed", async () => {
  const lab = createLab()
  lab.sim.faults.add({ kind: "respond", match: { ...match, nth: 2 }, when: "before", status: 500, message: "second" })
  const statuses = [(await describe(lab, "1")).status, (await describe(lab, "2")).status, (await describe(lab, "3")).status]
  expect(statuses).toEqual([200, 500, 200])
  const id = lab.sim.faults.add({ kind: "respond", match, when: "before", status: 500, message: "always", times: "always" })
  expect([(await describe(lab, "4")).status, (await describe(lab, "5")).status]).toEqual([500, 500])
  expect(lab.sim.faults.remove(id)).toBe(true)
  expect((await describe(lab, "6")).status).toBe(200)
})

test("garbage is not JSON, and a delay takes simulated time", async () => {
  const lab = createLab()
  lab.sim.faults.add({ kind: "garbage", match: { path: "/version" }, when: "after" })
  const response = await passing(
    lab.clock,
    lab.sim.handle({ method: "GET", path: "/api2/json/version", headers: { authorization: `PVEAPIToken=${lab.sim.rootToken}` } }),
  )
  expect(() => JSON.parse(response.body) as unknown).toThrow()
  lab.sim.faults.add({ kind: "delay", match: { path: "/version" }, ms: 5000 })
  const from = lab.clock.now()
  expect((await lab.call("GET", "/version")).status).toBe(200)
  expect(lab.clock.now() - from).toBe(5000)
})

test("a task can fail without its effect or with it, or vanish", async () => {
  const lab = createLab()
  const clone = async (newid: number) => await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid })
  lab.sim.faults.add({ kind: "fail-task", type: "qmclone", when: "before", text: "the disk is on fire" })
  expect(await clone(200)).toBe("the disk is on fire")
  expect(lab.sim.guest(200)).toBeUndefined()
  lab.sim.faults.add({ kind: "fail-task", type: "qmclone", when: "after", text: "the log was lost" })
  expect(await clone(201)).toBe("the log was lost")
  expect(lab.sim.guest(201)).toBeDefined()
  for (const when of ["before", "after"] as const) {
    lab.sim.faults.add({ kind: "vanish-task", type: "qmclone", when })
    const newid = when === "before" ? 202 : 203
    const upid = await lab.ok("POST", "/nodes/pve/qemu/101/clone", { newid })
    lab.clock.advance(10_000)
    expect((await lab.call("GET", `/nodes/pve/tasks/${String(upid)}/status`)).errors).toEqual({ upid: "no such task" })
    expect(lab.sim.guest(newid) !== undefined).toBe(when === "after")
  }
})

test("a node that is down answers 595 without a body, is shown offline, and comes back", async () => {
  const lab = createLab({ nodes: 2 })
  const id = lab.sim.faults.add({ kind: "node-down", node: "pve2" })
  expect(await lab.call("GET", "/nodes/pve2/qemu")).toMatchObject({ status: 595, reason: "No route to host", body: "" })
  expect((await lab.call("GET", "/nodes/pve1/qemu")).status).toBe(200)
  expect(await lab.ok("GET", "/nodes")).toMatchObject([{ status: "online" }, { status: "offline" }])
  expect(await lab.ok("GET", "/cluster/resources?type=storage")).toContainEqual(
    expect.objectContaining({ node: "pve2", status: "unknown" }),
  )
  lab.sim.faults.remove(id)
  expect((await lab.call("GET", "/nodes/pve2/qemu")).status).toBe(200)
})

test("without quorum changes are refused and reads go on", async () => {
  const lab = createLab({ nodes: 3 })
  lab.sim.faults.add({ kind: "quorum-lost" })
  expect((await lab.call("POST", "/pools", { poolid: "x" })).message).toBe("cluster not ready - no quorum?\n")
  expect((await lab.call("GET", "/pools")).status).toBe(200)
  expect(await lab.ok("GET", "/cluster/status")).toContainEqual(expect.objectContaining({ type: "cluster", quorate: 0 }))
})

test("calls are counted by kind and by route, and no parameter is remembered", async () => {
  const lab = createLab()
  await lab.ok("POST", "/access/users", { userid: "ann@pve", password: "correct horse" })
  await lab.ok("GET", "/pools")
  await lab.call("POST", "/nodes/pve/qemu/100/agent/ping")
  const counts = lab.sim.calls.counts()
  expect(counts).toMatchObject({
    total: 3,
    mutating: 1,
    reads: 1,
    agent: 1,
    byRoute: { "POST /access/users": 1, "GET /pools": 1 },
  })
  expect(JSON.stringify(lab.sim.calls.recent())).not.toContain("correct horse")
})
