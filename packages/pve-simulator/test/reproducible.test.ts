import { expect, test } from "vitest"
import { createManualClock, createSimulator } from "../src/index.ts"
import { createLab, type Lab } from "./support/client.ts"

/** A little of everything, with ends at many times. */
const work = async (lab: Lab): Promise<void> => {
  const upids: string[] = []
  for (let i = 0; i < 6; i += 1)
    upids.push(String(await lab.ok("POST", `/nodes/pve/qemu/${100 + (i % 5)}/clone`, { newid: 200 + i })))
  for (const upid of upids) await lab.settle(upid)
  for (let i = 0; i < 6; i += 1) await lab.ok("POST", `/nodes/pve/qemu/${200 + i}/status/start`)
  lab.clock.advance(40_000)
  for (const vmid of [200, 201, 202]) {
    await lab.ok("POST", `/nodes/pve/qemu/${vmid}/agent/exec`, { command: ["guest-stage", "role"], "input-data": '{"role":"x"}' })
  }
  lab.clock.advance(300_000)
}

test("the same seed and requests make the same history; another seed makes other identifiers", async () => {
  const [one, two, other] = [createLab({ seed: 7 }), createLab({ seed: 7 }), createLab({ seed: 8 })]
  for (const lab of [one, two, other]) await work(lab)
  expect(one.sim.trace.hash).toBe(two.sim.trace.hash)
  expect(one.sim.trace.count).toBeGreaterThan(20)
  expect(one.sim.save()).toBe(two.sim.save())
  expect(other.sim.guest(200)?.config["net0"]).not.toBe(one.sim.guest(200)?.config["net0"])
  expect(other.sim.rootToken).not.toBe(one.sim.rootToken)
})

test("a saved state is restored completely: guests continue, boots end in time, running tasks are cut off", async () => {
  const lab = createLab()
  await work(lab)
  await lab.ok("POST", "/nodes/pve/qemu/203/status/reset")
  lab.clock.advance(2000)
  const running = String(await lab.ok("POST", "/nodes/pve/qemu/101/clone", { newid: 300 }))
  lab.clock.advance(1000)
  const saved = lab.sim.save()

  const restored = createLab({ seed: 99 })
  restored.clock.advance(lab.clock.now() - restored.clock.now())
  restored.sim.restore(saved)
  expect(await restored.ok("GET", "/nodes/pve/qemu/200/status/current")).toMatchObject({ status: "running" })
  expect(restored.sim.guest(200)?.os?.roles).toEqual(["x"])
  expect(restored.sim.guest(203)?.boot.kind).toBe("booting")
  expect(await restored.settle(running)).toBe("unexpected status")
  expect(restored.sim.guest(300)?.config["lock"]).toBe("clone")
  restored.clock.advance(80_000)
  expect(restored.sim.guest(203)?.boot.kind).toBe("up")
  expect(await restored.task("POST", "/nodes/pve/qemu/101/clone", { newid: 301 })).toBe("OK")
})

test("time continues from when a state was saved if the clock is behind that", async () => {
  const lab = createLab()
  await lab.ok("POST", "/nodes/pve/qemu/101/clone", { newid: 300 })
  lab.clock.advance(86_400_000)
  const saved = lab.sim.save()
  const restored = createLab()
  restored.sim.restore(saved)
  expect(restored.sim.clock.now()).toBe(lab.clock.now())
  await restored.task("POST", "/nodes/pve/qemu/300/status/start")
  restored.clock.advance(60_000)
  expect(restored.sim.guest(300)?.boot.kind).toBe("up")
  expect(await restored.ok("GET", "/nodes/pve/qemu/300/status/current")).toMatchObject({ uptime: expect.closeTo(60, -1) })
})

test("a text that is not a saved state changes nothing", () => {
  const sim = createSimulator({ clock: createManualClock() })
  const before = sim.save()
  for (const text of [
    "",
    "{",
    "null",
    "[]",
    '{"form":1}',
    '{"form":1,"state":{}}',
    '{"form":2,"state":{"nodes":{"\\u0000map":[]}}}',
  ]) {
    expect(() => sim.restore(text), text).toThrow(/not a saved state/)
  }
  expect(sim.save()).toBe(before)
})

test("a reset is a fresh start with the same secrets", async () => {
  const lab = createLab()
  const token = lab.sim.rootToken
  await work(lab)
  lab.sim.reset()
  expect(lab.sim.state.guests.size).toBe(5)
  expect(lab.sim.rootToken).toBe(token)
  expect((await lab.call("GET", "/nodes/pve/qemu/200/config")).status).toBe(500)
  expect(await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200 })).toBe("OK")
})

test("a manual clock runs what is due in order, and only then", () => {
  const clock = createManualClock(0)
  const seen: string[] = []
  clock.schedule(10, () => {
    seen.push(`a${clock.now()}`)
    clock.schedule(5, () => seen.push(`c${clock.now()}`))
  })
  clock.schedule(10, () => seen.push(`b${clock.now()}`))
  const cancel = clock.schedule(12, () => seen.push("never"))
  cancel()
  clock.advance(9)
  expect(seen).toEqual([])
  expect(clock.pending()).toBe(2)
  clock.advance(10)
  expect(seen).toEqual(["a10", "b10", "c15"])
  expect(clock.now()).toBe(19)
  expect(clock.advanceToNext()).toBe(false)
})
