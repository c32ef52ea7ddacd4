import { type HypervisorFault, LeaseCheck } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type GuestSilent, makeClient, type PveClient } from "../src/client/client.ts"
import { makeCredentials, type PveAuth } from "../src/client/credentials.ts"
import { makeExchange } from "../src/client/exchange.ts"
import type { PveTransport } from "../src/index.ts"
import { connectionError, runFast, type Scripted, scriptedNode } from "./support.ts"

const token: PveAuth = { type: "token", id: "svc@pve!rw", secret: Redacted.make("top-secret-value") }
const password: PveAuth = { type: "password", username: "svc@pve", password: Redacted.make("hunter2hunter2") }

const clientOver = (endpoints: readonly PveTransport[], auth: PveAuth = token): PveClient => {
  const exchange = makeExchange(endpoints, { slowPerNode: 2, quickPerNode: 6 })
  return makeClient(exchange, makeCredentials(auth, exchange), { timeoutSeconds: 5, attempts: 3 })
}

const doing = { doing: "try it" }
const reasonOf = <A>(effect: Effect.Effect<A, HypervisorFault>) =>
  Effect.match(effect, { onSuccess: () => "no failure", onFailure: ({ facts }) => facts.reason })

const passing: readonly Scripted[] = [
  connectionError("ECONNRESET"),
  { status: 595, text: "" },
  { status: 596, text: "" },
  { status: 503, text: "<html>" },
  { text: "not json" },
  { text: '{"no":"data"}' },
]

describe("a read", () => {
  it("survives two passing failures of every sort", async () => {
    for (const failure of passing) {
      const { requests, transport } = scriptedNode((_, nth) => (nth < 3 ? failure : { json: { data: { version: "9" } } }))
      expect((await runFast(clientOver([transport]).get("/version", {}, doing))).data).toEqual({ version: "9" })
      expect(requests).toHaveLength(3)
    }
  })

  it("ends as `away` after three", async () => {
    for (const failure of passing) {
      const { requests, transport } = scriptedNode(() => failure)
      expect(await runFast(reasonOf(clientOver([transport]).get("/version", {}, doing)))).toBe("away")
      expect(requests).toHaveLength(3)
    }
  })

  it("puts parameters into the query and has no body", async () => {
    const { requests, transport } = scriptedNode(() => ({}))
    await runFast(clientOver([transport]).get("/pools", { poolid: "a/b" }, doing))
    expect(requests[0]).toMatchObject({ method: "GET", path: "/api2/json/pools?poolid=a%2Fb", body: undefined })
  })
})

describe("each request", () => {
  it("is measured with its method and its result, retries and logins included", async () => {
    const answers: readonly Scripted[] = [connectionError("ECONNRESET"), { status: 401 }, { json: { data: null } }]
    const { transport } = scriptedNode((_, nth) => answers[nth - 1] ?? {})
    const exchange = makeExchange([transport], { slowPerNode: 2, quickPerNode: 6 })
    const seen: string[] = []
    const client = makeClient(exchange, makeCredentials(token, exchange), {
      timeoutSeconds: 5,
      attempts: 3,
      measured: ({ method, result, seconds }) => void seen.push(`${method} ${result} ${seconds >= 0}`),
    })
    await runFast(Effect.exit(client.get("/version", {}, doing)))
    const busy = scriptedNode(() => refusing("can't lock file '/x' - got timeout"))
    const other = makeExchange([busy.transport], { slowPerNode: 2, quickPerNode: 6 })
    const changing = makeClient(other, makeCredentials(token, other), {
      timeoutSeconds: 5,
      attempts: 2,
      measured: ({ method, result }) => void seen.push(`${method} ${result}`),
    })
    await runFast(Effect.exit(changing.put("/pools", {}, doing)))
    expect(seen).toEqual(["GET away true", "GET unauthenticated true", "PUT locked", "PUT locked"])
  })
})

const refusing = (message: string): Scripted => ({ status: 500, json: { data: null, message } })

describe("a node that refuses for some seconds", () => {
  it("answers a read all the same: six tries, some seconds apart", async () => {
    for (const message of ["something broke\n", "ipcc_send_rec[1] failed: Connection refused\n"]) {
      const { requests, transport } = scriptedNode((_, nth) => (nth < 6 ? refusing(message) : {}))
      const seconds = await runFast(
        Effect.gen(function* () {
          const start = yield* Clock.currentTimeMillis
          yield* clientOver([transport]).get("/cluster/tasks", {}, doing)
          return ((yield* Clock.currentTimeMillis) - start) / 1000
        }),
      )
      expect(requests).toHaveLength(6)
      expect(seconds).toBeGreaterThan(5)
      expect(seconds).toBeLessThan(12)
    }
  })

  it("ends the read as `away` where nothing could be wrong with it, and else with its own words", async () => {
    const { requests, transport } = scriptedNode(() => refusing("something broke\n"))
    expect(await runFast(reasonOf(clientOver([transport]).get("/cluster/tasks", {}, doing)))).toBe("away")
    expect(requests).toHaveLength(6)
    expect(await runFast(reasonOf(clientOver([transport]).get("/nodes/a/qemu/100/config", {}, doing)))).toBe("failed")
  })

  it("says once that a VM does not exist, and that is believed", async () => {
    const { requests, transport } = scriptedNode(() =>
      refusing("Configuration file 'nodes/a/qemu-server/100.conf' does not exist\n"),
    )
    expect(await runFast(reasonOf(clientOver([transport]).get("/nodes/a/qemu/100/config", {}, doing)))).toBe("not-found")
    expect(requests).toHaveLength(1)
  })

  it("gets a change again only when it certainly had no effect", async () => {
    const change = (message: string) => {
      const { requests, transport } = scriptedNode((_, nth) => (nth === 1 ? refusing(message) : {}))
      return runFast(Effect.result(clientOver([transport]).put("/access/acl", {}, doing))).then(() => requests.length)
    }
    expect(await change("cfs-lock 'file-user_cfg' error: got lock request timeout\n")).toBe(2)
    expect(await change("can't lock file '/var/lock/qemu-server/lock-100.conf' - got timeout\n")).toBe(2)
    expect(await change("got no worker upid - start worker failed\n")).toBe(2)
    expect(await change("cluster not ready - no quorum?\n")).toBe(2)
    expect(await change("unable to load access control list: Connection refused\n")).toBe(2)
    expect(await change("VM is locked (backup)\n")).toBe(1)
    expect(await change("something broke\n")).toBe(1)
  })
})

describe("a call that changes something", () => {
  it("is sent once when its answer is lost, whatever was lost", async () => {
    for (const failure of passing.filter((each) => !("status" in each && each.status === 595))) {
      const { requests, transport } = scriptedNode(() => failure)
      expect(await runFast(reasonOf(clientOver([transport]).post("/pools", { poolid: "x" }, doing)))).toBe("unknown-effect")
      expect(requests).toHaveLength(1)
    }
  })

  it("is sent again when it certainly was not delivered", async () => {
    for (const failure of [connectionError("ECONNREFUSED"), connectionError("EHOSTUNREACH"), { status: 595, text: "" }]) {
      const { requests, transport } = scriptedNode((_, nth) => (nth < 3 ? failure : {}))
      await runFast(clientOver([transport]).post("/pools", { poolid: "x" }, doing))
      expect(requests).toHaveLength(3)
    }
  })

  it("goes to the next node when one cannot be reached, and stays there", async () => {
    const dead = scriptedNode(() => connectionError("ECONNREFUSED"))
    const alive = scriptedNode(() => ({}))
    const client = clientOver([dead.transport, alive.transport])
    await runFast(Effect.andThen(client.post("/pools", {}, doing), client.post("/pools", {}, doing)))
    expect([dead.requests.length, alive.requests.length]).toEqual([1, 2])
  })

  it("never goes to another node after it may have been delivered", async () => {
    const first = scriptedNode(() => connectionError("ECONNRESET"))
    const second = scriptedNode(() => ({}))
    expect(await runFast(reasonOf(clientOver([first.transport, second.transport]).post("/pools", {}, doing)))).toBe(
      "unknown-effect",
    )
    expect(second.requests).toHaveLength(0)
  })

  it("sends a form in its body, and DELETE in its query", async () => {
    const { requests, transport } = scriptedNode(() => ({}))
    const client = clientOver([transport])
    await runFast(
      Effect.andThen(client.put("/access/acl", { path: "/" }, doing), client.remove("/pools", { poolid: "x" }, doing)),
    )
    expect(requests[0]).toMatchObject({ method: "PUT", path: "/api2/json/access/acl", body: "path=%2F" })
    expect(requests[1]).toMatchObject({ method: "DELETE", path: "/api2/json/pools?poolid=x", body: undefined })
  })
})

describe("a change of a worker whose lease is lost while the change waits", () => {
  /** Makes the requests with a lease that `lose` ends; returns what was sent. */
  const sentBy = async (
    script: (nth: number, lose: () => void) => Scripted | Promise<Scripted>,
    asked: (client: PveClient) => Effect.Effect<unknown, unknown>,
    endpoints = 1,
  ) => {
    let lost = false
    const lose = () => {
      lost = true
    }
    const nodes = Array.from({ length: endpoints }, () => scriptedNode(() => script(++sent, lose)))
    let sent = 0
    const check = Effect.suspend(() => (lost ? Effect.die("the lease is lost") : Effect.void))
    const client = clientOver(nodes.map(({ transport }) => transport))
    await runFast(Effect.exit(Effect.provideService(asked(client), LeaseCheck, check)))
    return nodes.flatMap(({ requests }) => requests.map(({ method, path }) => `${method} ${path}`))
  }
  const clone = (client: PveClient) => client.post("/nodes/n1/qemu/1/clone", { newid: 2 }, doing)

  it("is not sent again after a pause", async () => {
    const refusedOnce = (_: number, lose: () => void) => (lose(), connectionError("ECONNREFUSED"))
    expect(await sentBy(refusedOnce, clone)).toHaveLength(1)
  })

  it("is not sent to the next endpoint", async () => {
    const refusedOnce = (_: number, lose: () => void) => (lose(), connectionError("ECONNREFUSED"))
    expect(await sentBy(refusedOnce, clone, 2)).toHaveLength(1)
  })

  it("is not sent when its turn comes", async () => {
    const slow = (_: number, lose: () => void) => Promise.resolve().then((): Scripted => (lose(), { json: { data: null } }))
    const seven = (client: PveClient) =>
      Effect.all(
        Array.from({ length: 7 }, () => clone(client)),
        { concurrency: "unbounded" },
      )
    expect(await sentBy(slow, seven)).toHaveLength(6)
  })

  it("may still be looked for", async () => {
    const read = (client: PveClient) => client.get("/version", {}, doing)
    const refusedOnce = (nth: number, lose: () => void) => (
      lose(),
      nth === 1 ? connectionError("ECONNRESET") : { json: { data: null } }
    )
    expect(await sentBy(refusedOnce, read)).toHaveLength(2)
  })
})

describe("of several endpoints", () => {
  const lost: readonly (readonly [string, Scripted])[] = [
    ["answers nothing that Proxmox says", { text: "<html>welcome</html>" }],
    ["breaks off in the midst of an answer", { text: '{"data":[{"vm' }],
    ["stands behind a gateway that has lost it", { status: 502, text: "<html>" }],
    ["did not answer in time", connectionError("ETIMEDOUT")],
  ]
  it.each(lost)("one that %s is left for the next, which reads are sent to", async (_, bad) => {
    const [first, second] = [scriptedNode(() => bad), scriptedNode(() => ({}))]
    const client = clientOver([first.transport, second.transport])
    await runFast(Effect.andThen(client.get("/version", {}, doing), client.get("/version", {}, doing)))
    expect([first.requests.length, second.requests.length]).toEqual([1, 2])
  })

  it.each(lost)(
    "one that %s has perhaps had its effect: the change is not sent to another, what comes later is",
    async (_, bad) => {
      const [first, second] = [scriptedNode(() => bad), scriptedNode(() => ({}))]
      const client = clientOver([first.transport, second.transport])
      expect(await runFast(reasonOf(client.post("/pools", { poolid: "x" }, doing)))).toBe("unknown-effect")
      await runFast(client.post("/pools", { poolid: "x" }, doing))
      expect([first.requests.length, second.requests.length]).toEqual([1, 1])
    },
  )

  it("one that has no votes had no effect: the change is sent to the next, which is asked from then on", async () => {
    const bad = { status: 500, json: { data: null, message: "cluster not ready - no quorum?\n" } }
    const [first, second] = [scriptedNode(() => bad), scriptedNode(() => ({}))]
    const client = clientOver([first.transport, second.transport])
    await runFast(client.post("/nodes/pve3/qemu/100/status/start", {}, doing))
    await runFast(client.get("/version", {}, doing))
    expect([first.requests.length, second.requests.length]).toEqual([1, 2])
  })

  it("one that does not reach another node is kept: the node may be the other endpoint", async () => {
    const [first, second] = [scriptedNode(() => ({ status: 595, text: "" })), scriptedNode(() => ({}))]
    const client = clientOver([first.transport, second.transport])
    expect(await runFast(reasonOf(client.get("/nodes/pve2/qemu", {}, doing)))).toBe("away")
    expect([first.requests.length, second.requests.length]).toEqual([3, 0])
  })

  it("one that was left is not gone back to for a minute while another one is there, however that answers", async () => {
    const without = { status: 500, json: { data: null, message: "cluster not ready - no quorum?\n" } }
    const first = scriptedNode(() => connectionError("ECONNREFUSED"))
    const second = scriptedNode(() => without)
    const client = clientOver([first.transport, second.transport])
    const change = reasonOf(client.post("/pools", {}, doing))
    expect(await runFast(Effect.andThen(change, change))).toBe("no-quorum")
    expect([first.requests.length, second.requests.length]).toEqual([1, 12])
    expect(await runFast(Effect.andThen(change, Effect.andThen(Effect.sleep("61 seconds"), change)))).toBe("no-quorum")
    expect(first.requests.length).toBeGreaterThan(1)
  })

  it("none has votes: the change is refused as that", async () => {
    const without = { status: 500, json: { data: null, message: "cluster not ready - no quorum?\n" } }
    const nodes = [scriptedNode(() => without), scriptedNode(() => without)]
    const client = clientOver(nodes.map(({ transport }) => transport))
    expect(await runFast(reasonOf(client.post("/pools", {}, doing)))).toBe("no-quorum")
  })

  it("many requests that fail at once on the first all go on with the second", async () => {
    const [first, second] = [scriptedNode(() => ({ text: "garbage" })), scriptedNode(() => ({}))]
    const client = clientOver([first.transport, second.transport, scriptedNode(() => connectionError("ECONNRESET")).transport])
    await runFast(Effect.forEach([1, 2, 3, 4], () => client.get("/version", {}, doing), { concurrency: "unbounded" }))
    expect([first.requests.length, second.requests.length]).toEqual([4, 4])
  })

  it("the fault of a node that cannot be reached names it", async () => {
    const { transport } = scriptedNode(() => ({ status: 595, text: "", reason: "No route to host" }))
    const fault = await runFast(Effect.flip(clientOver([transport]).get("/nodes/pve3/qemu", {}, doing)))
    expect(fault.message).toBe("Cannot try it: node pve3 cannot be reached (No route to host)")
  })
})

describe("a refusal", () => {
  it("says the parameter, the words of the body, one line, without file names", async () => {
    const { transport } = scriptedNode(() => ({
      status: 400,
      json: {
        data: null,
        message: "Parameter verification failed.\n",
        errors: { tag: "too big at /usr/share/perl5/X.pm line 3.\n" },
      },
    }))
    const fault = await runFast(Effect.flip(clientOver([transport]).post("/pools", {}, doing)))
    expect(fault.message).toBe("Cannot try it: Parameter verification failed. tag: too big")
  })

  it("before PVE 8.3 is only in the reason phrase", async () => {
    const { transport } = scriptedNode(() => ({ status: 500, text: "", reason: "VM is locked (clone)" }))
    expect(await runFast(reasonOf(clientOver([transport]).post("/pools", {}, doing)))).toBe("locked")
  })

  it("of a token is final: one request, `unauthenticated`, and no secret in the fault", async () => {
    const { requests, transport } = scriptedNode(() => ({ status: 401, text: "" }))
    const fault = await runFast(Effect.flip(clientOver([transport]).get("/version", {}, doing)))
    expect(fault.facts.reason).toBe("unauthenticated")
    expect(requests).toHaveLength(1)
    expect(JSON.stringify([fault, fault.message, fault.hint])).not.toContain("top-secret-value")
  })
})

describe("a log-in", () => {
  const loggingIn = (valid: () => string) =>
    scriptedNode((request) => {
      if (request.path.endsWith("/access/ticket")) return { json: { data: { ticket: valid(), CSRFPreventionToken: "csrf" } } }
      return request.headers["cookie"] === `PVEAuthCookie=${valid()}` ? {} : { status: 401, text: "" }
    })
  const logins = (requests: readonly { readonly path: string }[]) =>
    requests.filter(({ path }) => path.endsWith("/ticket")).length

  it("happens once for many requests at once, and sends the CSRF token with changes only", async () => {
    const { requests, transport } = loggingIn(() => "t1")
    const client = clientOver([transport], password)
    await runFast(Effect.forEach([1, 2, 3, 4], () => client.get("/version", {}, doing), { concurrency: "unbounded" }))
    await runFast(client.post("/pools", {}, doing))
    expect(logins(requests)).toBe(1)
    expect(
      requests.filter(({ method }) => method === "GET").every(({ headers }) => headers["csrfpreventiontoken"] === undefined),
    ).toBe(true)
    expect(requests.at(-1)?.headers["csrfpreventiontoken"]).toBe("csrf")
  })

  it("is repeated once for many requests when the ticket is no longer taken, and they succeed", async () => {
    let valid = "t1"
    const { requests, transport } = loggingIn(() => valid)
    const client = clientOver([transport], password)
    await runFast(client.get("/version", {}, doing))
    valid = "t2"
    await runFast(Effect.forEach([1, 2, 3, 4], () => client.post("/pools", {}, doing), { concurrency: "unbounded" }))
    expect(logins(requests)).toBe(2)
  })

  it("is renewed with the ticket itself before it ends", async () => {
    let issued = 0
    const { requests, transport } = scriptedNode((request) =>
      request.path.endsWith("/access/ticket")
        ? { json: { data: { ticket: `t${(issued += 1)}`, CSRFPreventionToken: "c" } } }
        : {},
    )
    const client = clientOver([transport], password)
    await runFast(
      Effect.gen(function* () {
        yield* client.get("/version", {}, doing)
        yield* Effect.sleep("100 minutes")
        yield* client.get("/version", {}, doing)
      }),
    )
    expect(requests.filter(({ path }) => path.endsWith("/ticket")).map(({ body }) => body)).toEqual([
      "username=svc%40pve&password=hunter2hunter2",
      "username=svc%40pve&password=t1",
    ])
  })

  it("that is refused is `unauthenticated` and is not tried again for the request", async () => {
    const { requests, transport } = scriptedNode(() => ({ status: 401, json: { data: null, message: "authentication failure" } }))
    const fault = await runFast(Effect.flip(clientOver([transport], password).get("/version", {}, doing)))
    expect(fault.facts.reason).toBe("unauthenticated")
    expect(requests).toHaveLength(1)
    expect(JSON.stringify([fault, fault.message])).not.toContain("hunter2")
  })
})

describe("requests in flight", () => {
  it("are at most two slow ones per node, other nodes and quick ones apart", async () => {
    const now = new Map<string, number>()
    const most = new Map<string, number>()
    const { transport } = scriptedNode(async ({ path }) => {
      const key = path.split("?")[0] ?? ""
      now.set(key, (now.get(key) ?? 0) + 1)
      most.set(key, Math.max(most.get(key) ?? 0, now.get(key) ?? 0))
      for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
      now.set(key, (now.get(key) ?? 0) - 1)
      return {}
    })
    const client = clientOver([transport])
    const many = <A>(ask: (n: number) => Effect.Effect<A, HypervisorFault | GuestSilent>) =>
      Effect.forEach(
        Array.from({ length: 12 }, (_, n) => n),
        ask,
        { concurrency: "unbounded" },
      )
    await runFast(
      Effect.all(
        [
          many(() => client.guest.post("/nodes/a/qemu/100/agent/ping", {}, doing)),
          many(() => client.guest.post("/nodes/b/qemu/100/agent/ping", {}, doing)),
          many(() => client.get("/nodes/a/qemu", {}, doing)),
        ],
        { concurrency: "unbounded" },
      ),
    )
    expect(Object.fromEntries(most)).toEqual({
      "/api2/json/nodes/a/qemu/100/agent/ping": 2,
      "/api2/json/nodes/b/qemu/100/agent/ping": 2,
      "/api2/json/nodes/a/qemu": 6,
    })
  })
})

describe("a hostile answer", () => {
  it("of any bytes is a fault, never a crash", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary" }), fc.integer({ min: 200, max: 599 }), async (text, status) => {
        const { transport } = scriptedNode(() => ({ status, text }))
        const reason = await runFast(reasonOf(clientOver([transport]).post("/pools", {}, doing)))
        expect(typeof reason).toBe("string")
      }),
      { numRuns: 200 },
    )
  })

  it("whose members are of other types is a fault, never a crash", async () => {
    const odd = { toString: 1, valueOf: 1 }
    const refusal = scriptedNode(() => ({
      status: 400,
      json: { data: null, message: odd, errors: { a: odd, b: "wrong", c: [odd] } },
    }))
    const detail = Effect.map(Effect.flip(clientOver([refusal.transport]).get("/pools", {}, doing)), ({ facts }) => facts.detail)
    expect(await runFast(detail)).toBe("b: wrong")
    const tickets = [
      { ticket: "\ud800", CSRFPreventionToken: "x" },
      { ticket: "x", CSRFPreventionToken: "a\r\nb: c" },
    ]
    for (const ticket of tickets) {
      const node = scriptedNode(() => ({ json: { data: ticket } }))
      expect(await runFast(reasonOf(clientOver([node.transport], password).post("/pools", {}, doing)))).toBe("failed")
      expect(node.requests).toHaveLength(1)
    }
  })

  it("nested without end is refused before it is parsed", async () => {
    const { transport } = scriptedNode(() => ({ text: `{"data":${"[".repeat(100_000)}${"]".repeat(100_000)}}` }))
    expect(await runFast(reasonOf(clientOver([transport]).get("/version", {}, doing)))).toBe("away")
  })

  it("of millions of values is refused before it is parsed", async () => {
    const { transport } = scriptedNode(() => ({ text: `{"data":[${"{},".repeat(3_000_000)}{}]}` }))
    const detail = Effect.map(Effect.flip(clientOver([transport]).get("/version", {}, doing)), ({ facts }) => facts.detail)
    expect(await runFast(detail)).toBe("the answer is not the JSON that Proxmox sends")
  })

  it("of a guest's agent, larger than any of use, counts as silence: it would hold everybody else up", async () => {
    const { requests, transport } = scriptedNode(() => ({ text: `{"data":{"result":[${"{},".repeat(1_000_000)}{}]}}` }))
    const asked = clientOver([transport]).guest.get("/nodes/pve/qemu/100/agent/get-users", {}, doing)
    expect(await runFast(Effect.flip(asked))).toMatchObject({
      _tag: "GuestSilent",
      off: false,
      detail: expect.stringMatching(/^its agent's answer has 30000\d\d bytes, and only up to 2097152 are read$/u) as string,
    })
    expect(requests).toHaveLength(1)
  })
})
