import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { makeClient } from "../src/client/client.ts"
import { makeCredentials } from "../src/client/credentials.ts"
import { makeExchange } from "../src/client/exchange.ts"
import { listedOutcome, outcomeOf, statusOutcome } from "../src/tasks/outcome.ts"
import { parseUpid, type Upid } from "../src/tasks/upid.ts"
import { makeWatcher } from "../src/tasks/watcher.ts"
import { runFast, type Scripted, scriptedNode } from "./support.ts"

const upidOf = (n: number): Upid => {
  const upid = parseUpid(`UPID:pve:0000${1000 + n}:00082E5B:6B014C16:qmclone:${100 + n}:svc@pve!rw:`)
  if (upid === undefined) throw new Error("not a UPID")
  return upid
}
const upids = Array.from({ length: 20 }, (_, n) => upidOf(n))

const watcherOver = (script: Parameters<typeof scriptedNode>[0]) => {
  const { requests, transport } = scriptedNode(script)
  const exchange = makeExchange([transport], { slowPerNode: 2, quickPerNode: 6 })
  const credentials = makeCredentials({ type: "token", id: "a@pve!b", secret: Redacted.make("s") }, exchange)
  const client = makeClient(exchange, credentials, { timeoutSeconds: 5, attempts: 1 })
  return { requests, watcher: makeWatcher(client, { fastestSeconds: 0.25, slowestSeconds: 3 }) }
}

const listed = (ended: readonly Upid[], status = "OK"): Scripted => ({
  json: { data: upids.map((upid) => ({ upid: upid.text, ...(ended.includes(upid) ? { endtime: 1, status } : {}) })) },
})

describe("waiting for tasks", () => {
  it("costs one call per poll, however many wait", async () => {
    const { requests, watcher } = watcherOver((_, nth) => listed(nth < 5 ? [] : upids))
    const outcomes = await runFast(
      Effect.flatMap(watcher, (awaitTask) => Effect.forEach(upids, awaitTask, { concurrency: "unbounded" })),
    )
    expect(outcomes.every(({ type }) => type === "ok")).toBe(true)
    expect(requests.map(({ path }) => path)).toEqual(Array.from({ length: 5 }, () => "/api2/json/cluster/tasks"))
  })

  it("asks for a task by itself when the list does not show it", async () => {
    const { watcher } = watcherOver(({ path }) =>
      path.endsWith("/cluster/tasks")
        ? { json: { data: [] } }
        : { json: { data: { status: "stopped", exitstatus: "WARNINGS: 2" } } },
    )
    expect(await runFast(Effect.flatMap(watcher, (awaitTask) => awaitTask(upidOf(1))))).toEqual({ type: "ok" })
  })

  it("tells a task that the node does not know as vanished", async () => {
    const { watcher } = watcherOver(({ path }) =>
      path.endsWith("/cluster/tasks")
        ? { json: { data: [] } }
        : { status: 400, json: { data: null, message: "Parameter verification failed.\n", errors: { upid: "no such task" } } },
    )
    expect((await runFast(Effect.flatMap(watcher, (awaitTask) => awaitTask(upidOf(1))))).type).toBe("vanished")
  })

  it("names a task whose node is silent by its kind and its VM, and not by the identifier of Proxmox", async () => {
    const { watcher } = watcherOver(({ path }) =>
      path.endsWith("/cluster/tasks") ? { json: { data: [] } } : { status: 595, text: "No route to host" },
    )
    const { message } = await runFast(Effect.flatMap(watcher, (awaitTask) => Effect.flip(awaitTask(upidOf(1)))))
    expect(message).toMatch(/^Cannot read the state of qmclone 101 on node pve: node pve cannot be reached/u)
    expect(message).not.toContain("UPID")
  })

  it("fails for all that wait when there is a bug, and works again afterwards", async () => {
    let asked = 0
    const get = () => (++asked === 1 ? Effect.die(new Error("a bug")) : Effect.succeed({ data: [listedRow], endpoint: 0 }))
    const listedRow = { upid: upidOf(1).text, endtime: 1, status: "OK" }
    const watcher = makeWatcher({ get } as never, { fastestSeconds: 0.25, slowestSeconds: 3 })
    const [lost, again] = await runFast(
      Effect.gen(function* () {
        const awaitTask = yield* watcher
        const first = yield* Effect.timeoutOption(Effect.flip(awaitTask(upidOf(1))), "1 minute")
        return [Option.getOrUndefined(first)?.facts.reason, yield* awaitTask(upidOf(1))] as const
      }),
    )
    expect([lost, again]).toEqual(["away", { type: "ok" }])
  })

  it("fails for all that wait when the hypervisor is unreachable, and works again afterwards", async () => {
    const { watcher } = watcherOver((_, nth) => (nth === 1 ? { status: 595, text: "" } : listed(upids)))
    const [lost, again] = await runFast(
      Effect.gen(function* () {
        const awaitTask = yield* watcher
        const first = yield* Effect.forEach(upids, (upid) => Effect.flip(awaitTask(upid)), { concurrency: "unbounded" })
        return [first, yield* awaitTask(upidOf(1))] as const
      }),
    )
    expect(lost.map(({ facts }) => facts.reason)).toEqual(upids.map(() => "away"))
    expect(again).toEqual({ type: "ok" })
  })

  it("wakes one who came while the task was asked about for another, who went away", async () => {
    let answer: (() => void) | undefined
    const ended: Scripted = { json: { data: { status: "stopped", exitstatus: "OK" } } }
    const { watcher } = watcherOver(({ path }) => {
      if (path.endsWith("/cluster/tasks")) return { json: { data: [] } }
      return answer === undefined ? new Promise<Scripted>((resolve) => (answer = () => resolve(ended))) : ended
    })
    const outcome = Effect.gen(function* () {
      const awaitTask = yield* watcher
      const first = yield* Effect.forkChild(awaitTask(upidOf(1)))
      while (answer === undefined) yield* Effect.sleep("1 second")
      yield* Fiber.interrupt(first)
      const second = yield* Effect.forkChild(awaitTask(upidOf(1)))
      yield* Effect.sleep("1 second")
      answer()
      return yield* Effect.timeoutOption(Fiber.join(second), "1 minute")
    })
    expect(await runFast(outcome)).toEqual(Option.some({ type: "ok" }))
  })

  it("ends when the node of a task lost power, though the cluster's list shows the task as running for good", async () => {
    const { watcher } = watcherOver(({ path }) => (path.endsWith("/cluster/tasks") ? listed([]) : { status: 595, text: "" }))
    const fault = Effect.flatMap(watcher, (awaitTask) => Effect.timeoutOption(Effect.flip(awaitTask(upidOf(1))), "2 minutes"))
    expect(await runFast(fault)).toMatchObject({ value: { facts: { reason: "away", detail: "node pve cannot be reached" } } })
  })

  it("is not held up by a node that does not answer about another task", async () => {
    const [silent, other] = [upids[1]!, upids[2]!]
    let asked = false
    const { watcher } = watcherOver(({ path }) => {
      if (path.endsWith("/cluster/tasks")) return listed(asked ? [other] : [])
      asked = true
      return new Promise<never>(() => {})
    })
    const outcome = Effect.flatMap(watcher, (awaitTask) =>
      Effect.timeoutOption(Effect.raceFirst(awaitTask(silent), awaitTask(other)), "2 minutes"),
    )
    expect(await runFast(outcome)).toEqual(Option.some({ type: "ok" }))
  })

  it("asks for a listed task by itself once a minute", async () => {
    const { requests, watcher } = watcherOver(({ path }) =>
      path.endsWith("/cluster/tasks") ? listed([]) : { json: { data: { status: "running" } } },
    )
    await runFast(Effect.flatMap(watcher, (awaitTask) => Effect.timeoutOption(awaitTask(upidOf(1)), "5 minutes")))
    expect(requests.filter(({ path }) => path.endsWith("/status")).length).toBeLessThanOrEqual(5)
  })

  it("ends when a node tells nothing that a task's state could be, and says so", async () => {
    const { watcher } = watcherOver(({ path }) => ({ json: { data: path.endsWith("/cluster/tasks") ? [] : null } }))
    const fault = Effect.flatMap(watcher, (awaitTask) => Effect.timeoutOption(Effect.flip(awaitTask(upidOf(1))), "1 minute"))
    expect(await runFast(fault)).toMatchObject({
      value: { facts: { reason: "away", detail: "node pve gives no state of the task" } },
    })
  })

  it("rests while nobody waits", async () => {
    const { requests, watcher } = watcherOver(() => listed(upids))
    await runFast(
      Effect.gen(function* () {
        const awaitTask = yield* watcher
        yield* awaitTask(upidOf(1))
        yield* Effect.sleep("1 hour")
      }),
    )
    expect(requests).toHaveLength(1)
  })

  it("stops looking when the one that waited went away", async () => {
    const { requests, watcher } = watcherOver(() => listed([]))
    await runFast(
      Effect.gen(function* () {
        const awaitTask = yield* watcher
        yield* Effect.timeoutOption(awaitTask(upidOf(1)), "5 seconds")
        yield* Effect.sleep("1 hour")
      }),
    )
    expect(requests.length).toBeLessThan(15)
  })
})

describe("the end of a task", () => {
  it("is good with OK and warnings, unknown when the log broke off, and else its words", () => {
    expect(
      ["OK", "WARNINGS: 1", "unexpected status", "received interrupt", "boom", "OK?"].map((exit) => outcomeOf(exit).type),
    ).toEqual(["ok", "ok", "vanished", "vanished", "failed", "failed"])
  })

  it("is not there while the task runs", () => {
    expect(listedOutcome({ upid: "x", status: "RUNNING", endtime: 1 })).toBeUndefined()
    expect(listedOutcome({ upid: "x" })).toBeUndefined()
    expect(statusOutcome({ status: "running" })).toBeUndefined()
    expect(statusOutcome({})).toBeUndefined()
  })
})

describe("a UPID", () => {
  it("is separated by colons, whatever the width of its numbers and with an empty id", () => {
    expect(parseUpid("UPID:pve-2:00006641:1A0082E5B:6B014C16:reloadnetworkall::root@pam!tok:")).toMatchObject({
      node: "pve-2",
      type: "reloadnetworkall",
      id: "",
    })
  })

  it("is nothing else", () => {
    for (const value of [null, 5, "", "UPID:pve", "UPID:../x:1:2:3:qmstart:100:root@pam:", "x".repeat(2000)])
      expect(parseUpid(value)).toBeUndefined()
  })
})
