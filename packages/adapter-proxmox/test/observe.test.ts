import type { Vmid } from "@rangewright/domain"
import { Hypervisor } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { proxmoxLayer, type PveAuth } from "../src/index.ts"
import { runFast, scriptedNode } from "./support.ts"

const auth: PveAuth = { type: "token", id: "svc@pve!rw", secret: Redacted.make("top-secret-value") }

describe("an observation that took long, as when the process was stopped before it read the answer", () => {
  it.each(["observe", "observePool"] as const)("is as old as its question (%s): changes made since are newer", async (how) => {
    let millis = () => 0
    const { transport } = scriptedNode(async () => {
      const asked = millis()
      while (millis() < asked + 3000) await new Promise(setImmediate)
      return { json: { data: how === "observe" ? [] : { members: [] } } }
    })
    const { before, at, after } = await runFast(
      Effect.gen(function* () {
        const hypervisor = yield* Hypervisor
        const clock = yield* Clock.Clock
        millis = () => clock.currentTimeMillisUnsafe()
        const start = millis()
        const seen = yield* how === "observe" ? hypervisor.observe : hypervisor.observePool("LAB")
        return { before: start, at: seen.at.getTime(), after: millis() }
      }).pipe(Effect.provide(proxmoxLayer({ urls: [], transport, auth }))),
    )
    expect(after - before).toBeGreaterThanOrEqual(3000)
    expect(at - before).toBeLessThan(1000)
  })
})

describe("a node whose name cannot be one", () => {
  it.each(["..", ".", "", "a/b", "-x"])("(%j) is left out, with what is on it", async (node) => {
    const { transport, requests } = scriptedNode(() => ({
      json: {
        data: [
          { type: "node", node, status: "online" },
          { type: "qemu", node, vmid: 100, name: "x", status: "running" },
          { type: "storage", node, storage: "local", status: "available" },
          { type: "node", node: "pve-1", status: "online" },
        ],
      },
    }))
    const asked = Effect.gen(function* () {
      const hypervisor = yield* Hypervisor
      const { nodes, machines, storages } = yield* hypervisor.observe
      yield* Effect.exit(hypervisor.clock)
      yield* Effect.exit(hypervisor.seek(100 as Vmid, undefined))
      return [nodes.map(({ name }) => name), machines, storages]
    }).pipe(Effect.provide(proxmoxLayer({ urls: [], transport, auth })))
    expect(await runFast(asked)).toEqual([["pve-1"], [], []])
    expect(requests.map(({ path }) => path).filter((path) => path.includes("/nodes/"))).not.toContainEqual(
      expect.stringMatching(/nodes\/(?:%|-|\.)/u),
    )
  })
})

describe("an answer that does not say what was asked", () => {
  it.each([null, {}, ""])("(%j) is no quorum and no time", async (data) => {
    const { transport } = scriptedNode(({ path }) =>
      path.endsWith("/nodes") ? { json: { data: [{ node: "pve", status: "online" }] } } : { json: { data } },
    )
    const asked = Effect.gen(function* () {
      const hypervisor = yield* Hypervisor
      const faults = [yield* Effect.flip(hypervisor.quorate), yield* Effect.flip(hypervisor.clock)]
      return faults.map(({ facts }) => facts.reason)
    }).pipe(Effect.provide(proxmoxLayer({ urls: [], transport, auth })))
    expect(await runFast(asked)).toEqual(["away", "away"])
  })
})
