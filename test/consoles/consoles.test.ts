import type { RangeId, UserId, Vmid } from "@rangewright/domain"
import { Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { request } from "node:http"
import { connect as connectTo } from "node:net"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { idOf, type Who } from "../../packages/adapter-http/test/support.ts"
import { startWholeService, type WholeService } from "../conformance/service.ts"
import { connect, logIn, screenName, type Viewer } from "./support/viewer.ts"

let service: WholeService
beforeEach(async () => {
  service = await startWholeService()
})
afterEach(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

interface Ticket {
  readonly ticket: string
  readonly password: string
  readonly port: number
}

const ask = (who: Who, vmid: string | number = 20_000, headers: Readonly<Record<string, string>> = {}, more = "") =>
  fetch(`${service.url}/api/v2/vm/console/ticket?VMID=${encodeURIComponent(String(vmid))}${more}`, {
    headers: { "x-api-key": service.keys[who], ...headers },
  })
const ticketFor = async (who: Who, headers: Readonly<Record<string, string>> = {}, more = ""): Promise<Ticket> => {
  const response = await ask(who, 20_000, headers, more)
  expect(response.status).toBe(200)
  return (await response.json()) as Ticket
}

const viewUrl = (ticket: string) => `${service.url}/api/v2/vm/console/view?ticket=${ticket}`

const handshake = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-version": "13",
}

/** The response to an upgrade request; the body is the error. */
const view = (ticket: string, headers: Readonly<Record<string, string>> = {}) =>
  new Promise<{ readonly status: number; readonly error: string; readonly headers: Readonly<Record<string, unknown>> }>(
    (resolve, reject) => {
      const outgoing = request(viewUrl(ticket), { headers: { ...handshake, ...headers } })
      outgoing.on("upgrade", ({ headers: sent }, socket) => {
        socket.destroy()
        resolve({ status: 101, error: "", headers: sent })
      })
      outgoing.on("response", (response) => {
        void text(response).then((body) =>
          resolve({
            status: response.statusCode ?? 0,
            error: (JSON.parse(body) as { error: string }).error,
            headers: response.headers,
          }),
        )
      })
      outgoing.on("error", reject).end()
    },
  )

const run = async <A>(effect: Effect.Effect<A, unknown, Users | Ranges>): Promise<A> =>
  Effect.runPromise(Effect.flatten(Fiber.await(service.run(effect as never)))) as Promise<A>

/** A viewer that is logged in, with the name of its screen. */
const open = async (who: Who = "member", more = ""): Promise<Viewer> => {
  const { ticket, password } = await ticketFor(who, {}, more)
  const viewer = await connect(viewUrl(ticket))
  expect(await logIn(viewer, password)).toBe(0)
  expect(await screenName(viewer)).toContain("20000")
  return viewer
}

describe("a console", () => {
  it.each([[[]], [["binary"]], [["base64", "binary"]]])(
    "is shown to a viewer that requests the subprotocols %j",
    async (protocols) => {
      const { ticket, password, port } = await ticketFor("member")
      expect([ticket, password, port]).toEqual([
        expect.stringMatching(/^[A-Za-z0-9]{43}$/u),
        expect.stringMatching(/^[A-Za-z0-9]{8}$/u),
        5900,
      ])
      const viewer = await connect(viewUrl(ticket), { protocols })
      expect(viewer.socket.protocol).toBe(protocols.length === 0 ? "" : "binary")
      expect(await logIn(viewer, password)).toBe(0)
      expect(await screenName(viewer)).toContain("20000")
      viewer.socket.send(Buffer.from([3, 0, 0, 0, 0, 0, 0, 1, 0, 1]))
      expect([...(await viewer.take(16))].slice(0, 4)).toEqual([0, 0, 0, 1])
      viewer.socket.close()
    },
  )

  it("is closed to a viewer with a wrong password, which sees nothing of the machine", async () => {
    const { ticket } = await ticketFor("member")
    const viewer = await connect(viewUrl(ticket))
    expect(await logIn(viewer, "another")).toBe(1)
    expect(await viewer.ended).toMatchObject({ code: 1008 })
    expect(service.world.consoles.size).toBe(0)
  })

  it("leaves an audit entry when it is opened and one when it is closed, neither with its ticket", async () => {
    const viewer = await open()
    viewer.socket.close()
    const entries = () =>
      service.store.audit
        .filter(({ operation }) => operation === "vmConsoleWebsocketHandler")
        .map(({ detail, outcome }) => [detail, outcome])
    await vi.waitFor(() =>
      expect(entries()).toEqual([
        ["vmid=20000 opened", "ok"],
        ["vmid=20000 closed: the viewer has disconnected", "ok"],
      ]),
    )
    expect(service.store.audit.at(-1)).toMatchObject({ callerId: "ME", actingAs: "ME", rangeId: "R1" })
    await vi.waitFor(() =>
      expect(service.answered.at(-1)).toMatchObject({
        path: "/api/v2/vm/console/view",
        status: 101,
        operation: "vmConsoleWebsocketHandler",
      }),
    )
    expect(service.world.consoles.size).toBe(0)
  })
})

describe("use of a range", () => {
  const lastUse = async () =>
    (
      (await (
        await fetch(`${service.url}/api/v2/range/auto-shutdown?rangeID=R1`, { headers: { "x-api-key": service.keys.member } })
      ).json()) as { readonly lastUse?: { readonly at: string; readonly by: string; readonly request: string } }
    ).lastUse

  it("is a console that is opened, and every key and move of the pointer in it, but not the picture", async () => {
    const viewer = await open()
    const opened = await lastUse()
    expect(opened).toMatchObject({ by: "ME", request: "GET /vm/console/view" })
    const ask = async () => {
      viewer.socket.send(Buffer.from([3, 0, 0, 0, 0, 0, 0, 1, 0, 1]))
      await viewer.take(16)
      // the times below differ
      await sleep(2)
    }
    await ask()
    await ask()
    expect(await lastUse()).toEqual(opened)
    const key = Buffer.from([4, 1, 0, 0, 0, 0, 0, 0x61])
    viewer.socket.send(key.subarray(0, 3))
    viewer.socket.send(key.subarray(3))
    await ask()
    const typed = await lastUse()
    expect(Date.parse(typed!.at)).toBeGreaterThan(Date.parse(opened!.at))
    viewer.socket.send(Buffer.from([5, 0, 0, 1, 0, 1]))
    await ask()
    expect(Date.parse((await lastUse())!.at)).toBeGreaterThan(Date.parse(typed!.at))
    viewer.socket.close()
  })

  it("is not a console to which nobody logs in", async () => {
    const { ticket } = await ticketFor("member")
    const viewer = await connect(viewUrl(ticket))
    expect(await logIn(viewer, "another")).toBe(1)
    await viewer.ended
    expect(await lastUse()).toBeUndefined()
  })
})

describe("a ticket", () => {
  it("opens one console", async () => {
    const { ticket } = await ticketFor("member")
    expect((await view(ticket)).status).toBe(101)
    const again = await view(ticket)
    expect([again.status, again.error]).toEqual([403, expect.stringContaining("was used before")])
  })

  it("expires after half a minute", async () => {
    const { ticket } = await ticketFor("member")
    const [[hash, kept] = []] = [...service.store.consoleTickets].slice(-1)
    if (hash === undefined || kept === undefined) throw new Error("no ticket is kept")
    expect(Math.abs(kept.expiresAt.getTime() - Date.now() - 30_000)).toBeLessThan(5_000)
    expect(JSON.stringify(kept)).not.toContain(ticket)
    service.store.consoleTickets.set(hash, { ...kept, expiresAt: new Date(Date.now() - 1) })
    expect((await view(ticket)).status).toBe(403)
  })

  it("is not used up by a request that opens no WebSocket", async () => {
    const { ticket } = await ticketFor("member")
    const plain = await fetch(viewUrl(ticket))
    expect([plain.status, await plain.text()]).toEqual([400, expect.stringContaining("web socket")])
    for (const wrong of [{ "sec-websocket-version": "8" }, { "sec-websocket-key": "short" }, { upgrade: "h2c" }])
      expect([wrong, (await view(ticket, wrong)).status]).toEqual([wrong, 400])
    expect((await view(ticket)).status).toBe(101)
  })

  it("is required, and a forged one opens nothing, whatever it contains", async () => {
    expect((await view("")).status).toBe(400)
    const forged = ["x", "a".repeat(43), "a%0d%0aSet-Cookie:%20x=1", "%F0%9F%92%A9", "'; drop table users; --", "a".repeat(8000)]
    for (const ticket of forged) {
      const { status, headers } = await view(encodeURI(decodeURI(ticket)))
      expect([ticket, status, headers["set-cookie"]]).toEqual([ticket, 403, undefined])
    }
  })

  it("opens a console on the page that requested it, or on the service's own if the request named no page", async () => {
    const { host } = new URL(service.url)
    const own = `http://${host}`
    const other = "https://evil.example"
    const cases: readonly (readonly [asked: string | undefined, opened: string | undefined, status: number])[] = [
      [undefined, undefined, 101],
      [undefined, own, 101],
      [undefined, `https://${host}`, 101],
      [undefined, other, 403],
      [undefined, "null", 403],
      [other, other, 101],
      [other, own, 403],
      [other, undefined, 403],
      [own, own, 101],
      [own, other, 403],
      [own, `${own}.evil.example`, 403],
    ]
    for (const [asked, opened, status] of cases) {
      const { ticket } = await ticketFor("member", asked === undefined ? {} : { origin: asked })
      const answer = await view(ticket, opened === undefined ? {} : { origin: opened })
      expect([asked, opened, answer.status]).toEqual([asked, opened, status])
    }
  })
})

describe("the console of a machine", () => {
  it("that does not exist or belongs to somebody else is refused; one that is off says so", async () => {
    expect((await ask("stranger")).status).toBe(403)
    expect((await ask("member", 29_999)).status).toBe(404)
    expect((await ask("member", 900)).status).toBe(404)
    for (const wrong of ["1e3", "-1", "0x10", "20000.0", "20000 ", "2000000000000", "%32%30", "NaN"])
      expect([wrong, (await ask("member", wrong)).status]).toEqual([wrong, 400])
    const vm = service.world.vms.get(20_000 as Vmid)!
    service.world.vms.set(vm.vmid, { ...vm, power: "stopped" })
    const stopped = await ask("member")
    expect([stopped.status, await stopped.text()]).toEqual([500, expect.stringContaining("does not run")])
    service.world.vms.set(vm.vmid, { ...vm, description: "" })
    expect((await ask("member")).status).toBe(500)
  })

  it("that is turned off after the ticket was issued is not reached, and the ticket is used up", async () => {
    const { ticket } = await ticketFor("member")
    const vm = service.world.vms.get(20_000 as Vmid)!
    service.world.vms.set(vm.vmid, { ...vm, power: "stopped" })
    const answer = await view(ticket)
    expect([answer.status, answer.error]).toEqual([502, expect.stringContaining("does not run")])
    expect((await view(ticket)).status).toBe(403)
  })

  it("is open to as many viewers of one user as the limit allows", async () => {
    const viewers = await Promise.all(Array.from({ length: 32 }, () => open()))
    const refused = await ask("member")
    expect([refused.status, await refused.text()]).toEqual([403, expect.stringContaining("consoles_per_user")])
    await open("admin")
    viewers[0]?.socket.close()
    await vi.waitFor(async () => expect((await ask("member")).status).toBe(200))
  })
})

describe("an open console closes", () => {
  const change = {
    "when the range is taken away from its user": [
      "member",
      "",
      Ranges.use((ranges) => ranges.revoke("R1" as RangeId, idOf.member)),
    ],
    "when its user is removed": ["member", "", Users.use((users) => users.remove(idOf.member))],
    "when who acts as its user is removed": ["admin", "&userID=ME", Users.use((users) => users.remove(idOf.admin))],
    "when the key of its user is replaced": [
      "member",
      "",
      Users.use((users) => users.setSecrets(idOf.member, { apiKeyHash: "another" })),
    ],
    "when its range is removed": ["member", "", Ranges.use((ranges) => ranges.remove("R1" as RangeId))],
    "when who acts as its user is no longer an administrator": [
      "admin",
      "&userID=ME",
      Effect.andThen(
        Users.use((users) => users.setAdmin("ST" as UserId, true)),
        Users.use((users) => users.setAdmin(idOf.admin, false)),
      ),
    ],
  } as const
  it.each(Object.entries(change))("%s", async (_title, [who, more, effect]) => {
    const viewer = await open(who, more)
    await run<unknown>(effect)
    expect(await viewer.ended).toMatchObject({ code: 1008, reason: expect.stringMatching(/\S/u) })
    expect(service.world.consoles.size).toBe(0)
  })

  it("when its machine is turned off", async () => {
    const viewer = await open()
    for (const close of service.world.consoles.keys()) close()
    expect(await viewer.ended).toMatchObject({ code: 1000, reason: "the machine closed its console" })
  })

  it("when the service stops, with that reason", async () => {
    const viewer = await open()
    const [ended] = await Promise.all([viewer.ended, service.stop()])
    expect(ended).toEqual({ code: 1001, reason: "the service is stopping" })
    service = await startWholeService()
  })

  it("when its viewer disappears without closing", async () => {
    const viewer = await open()
    viewer.socket.terminate()
    await vi.waitFor(() => expect(service.world.consoles.size).toBe(0))
  })
})

describe("a hostile viewer", () => {
  /** Sends bytes on a connection after the WebSocket was opened; returns the whole answer. */
  const raw = async (bytes: Buffer): Promise<Buffer> => {
    const { ticket } = await ticketFor("member")
    const socket = connectTo(service.port, "127.0.0.1")
    const head = Object.entries({ host: "x", ...handshake })
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join("")
    socket.write(`GET /api/v2/vm/console/view?ticket=${ticket} HTTP/1.1\r\n${head}\r\n`)
    socket.write(bytes)
    const got: Buffer[] = []
    socket.on("error", () => undefined)
    socket.on("data", (data: Buffer) => got.push(data))
    await new Promise((resolve) => socket.on("close", resolve))
    return Buffer.concat(got)
  }
  /** The code of the last frame, which is a close frame. */
  const codeOf = (answer: Buffer): number => {
    const at = answer.lastIndexOf(0x88)
    return answer.readUInt16BE(at + 2)
  }
  const masked = (head: readonly number[], payload = Buffer.alloc(0)) =>
    Buffer.concat([Buffer.from([head[0]!, head[1]! | 0x80, ...head.slice(2)]), Buffer.alloc(4), payload])

  it("is disconnected for text frames, unmasked bytes, and frames that are too long or invalid", async () => {
    expect(codeOf(await raw(masked([0x81, 2], Buffer.from("hi"))))).toBe(1003)
    expect(codeOf(await raw(Buffer.from([0x82, 1, 0])))).toBe(1002)
    const hundred = Buffer.alloc(8)
    hundred.writeBigUInt64BE(100n * 1024n * 1024n)
    expect(codeOf(await raw(masked([0x82, 127, ...hundred])))).toBe(1009)
    expect(codeOf(await raw(masked([0x87, 0])))).toBe(1002)
    expect(codeOf(await raw(masked([0xc2, 0])))).toBe(1002)
    // a fragmented message counts as a whole
    const part = masked([0x02, 127, 0, 0, 0, 0, 0, 0x0c, 0, 0], Buffer.alloc(0xc0000))
    const rest = masked([0x80, 127, 0, 0, 0, 0, 0, 0x0c, 0, 0], Buffer.alloc(0xc0000))
    expect(codeOf(await raw(Buffer.concat([part, rest])))).toBe(1009)
    await vi.waitFor(() => expect(service.world.consoles.size).toBe(0))
  })

  it("may fragment its messages", async () => {
    const { ticket, password } = await ticketFor("member")
    const viewer = await connect(viewUrl(ticket))
    await viewer.take(12)
    for (const [i, letter] of [..."RFB 003.008\n"].entries())
      viewer.socket.send(Buffer.from(letter), { fin: i === 11, binary: true })
    expect([...(await viewer.take(2))]).toEqual([1, 2])
    expect(password).toHaveLength(8)
    viewer.socket.terminate()
  })

  it("that begins thousands of upgrades and finishes none keeps nobody out", { timeout: 60_000 }, async () => {
    const started = 1_000
    const half = Array.from({ length: started }, () => {
      const socket = connectTo(service.port, "127.0.0.1")
      socket.on("error", () => undefined)
      socket.write("GET /api/v2/vm/console/view?ticket=x HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n")
      return socket
    })
    for (let i = 0; i < 90; i++)
      expect(await Promise.all(Array.from({ length: 100 }, () => view("nobody's").then(({ status }) => status)))).toEqual(
        Array.from({ length: 100 }, () => 403),
      )
    const viewer = await open()
    viewer.socket.close()
    for (const socket of half) socket.destroy()
  })
})
