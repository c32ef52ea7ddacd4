import { operation, type SocketSession } from "@rangewright/application"
import { Failed } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { afterEach, describe, expect, it, vi } from "vitest"
import { WebSocket } from "ws"
import { samples } from "./sample-operations.ts"
import { startService, type Service, type ServiceOptions } from "./support.ts"

let service: Service
afterEach(() => service.stop())

/** A socket whose session this is, or that cannot be opened. */
const serving = async (session: SocketSession | Failed, options: Partial<ServiceOptions> = {}) => {
  const socket = operation({
    id: "socket",
    route: "GET /socket",
    group: "Range",
    does: "open a socket",
    summary: "sample",
    access: "anonymous",
    target: "none",
    output: { type: "socket", protocol: "binary" },
    statuses: { 101: "open", 400: "bad", 404: undefined, 500: undefined },
    handle: () => (session instanceof Failed ? Effect.fail(session) : Effect.succeed(session)),
  })
  service = await startService({ operations: [...samples, socket], ...options })
  return `ws://127.0.0.1:${service.port}/api/v2/socket`
}

const handshake =
  "GET /api/v2/socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"

/** A client that speaks no more than the handshake. */
const silent = async (): Promise<Socket> => {
  const socket = connect(service.port, "127.0.0.1")
  socket.write(handshake)
  await once(socket, "readable")
  return socket
}

const never = (ended: () => void = () => undefined): SocketSession => ({
  serve: () => Effect.onInterrupt(Effect.never, () => Effect.sync(ended)),
  abandon: Effect.void,
})

describe("web sockets", () => {
  it("echo what they are sent, and close with the session's code and reason", async () => {
    const url = await serving({
      serve: (client) =>
        Effect.gen(function* () {
          const bytes = yield* client.receive
          yield* client.send(bytes ?? new Uint8Array())
          return { code: 1000, reason: "é".repeat(200) }
        }),
      abandon: Effect.void,
    })
    const socket = new WebSocket(url)
    const ended = once(socket, "close")
    await once(socket, "open")
    socket.send(Buffer.from([1, 2, 3]))
    expect([...((await once(socket, "message"))[0] as Buffer)]).toEqual([1, 2, 3])
    const [code, reason] = (await ended) as [number, Buffer]
    expect([code, reason.toString()]).toEqual([1000, "é".repeat(60)])
    expect(service.defects).toEqual([])
  })

  it("hold nothing for a client that does not read, and lose nothing when it does", async () => {
    const piece = 64 * 1024
    let sent = 0
    await serving({
      serve: (client) =>
        Effect.forever(
          Effect.gen(function* () {
            yield* client.send(new Uint8Array(piece).fill(sent % 251))
            sent++
          }),
        ),
      abandon: Effect.void,
    })
    const socket = await silent()
    socket.pause()
    // what the system holds for a connection is filled, and no more is sent
    let before = -1
    await vi.waitFor(
      () => {
        const now = sent
        const still = now === before
        before = now
        expect(still).toBe(true)
      },
      { interval: 200, timeout: 20_000 },
    )
    const stuck = sent
    expect(stuck * piece).toBeLessThan(32 * 1024 * 1024)
    let read = 0
    socket.on("data", (data: Buffer) => (read += data.length)).resume()
    await vi.waitFor(() => expect(sent).toBeGreaterThan(stuck + 100))
    expect(read).toBeGreaterThan(stuck * piece)
    socket.destroy()
  })

  it("hold back a client that sends more than is taken", async () => {
    let take = () => undefined as void
    let taken = 0
    const url = await serving({
      serve: (client) =>
        Effect.gen(function* () {
          yield* Effect.callback<void>((resume) => void (take = () => resume(Effect.void)))
          while (taken < 64 && (yield* client.receive) !== undefined) taken++
          return { code: 1000, reason: "enough" }
        }),
      abandon: Effect.void,
    })
    const socket = new WebSocket(url)
    const ended = once(socket, "close")
    await once(socket, "open")
    for (let i = 0; i < 64; i++) socket.send(Buffer.alloc(512 * 1024))
    await vi.waitFor(() => expect(socket.bufferedAmount).toBeGreaterThan(8 * 1024 * 1024))
    take()
    await ended
    expect(taken).toBe(64)
  })

  it("are dropped when a ping is not answered, and the session ends with them", async () => {
    const ended = vi.fn()
    await serving(never(ended), { http: { sockets: { ping: 50, farewell: 50 } } })
    const socket = await silent()
    socket.resume()
    await once(socket, "close")
    await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce())
  })

  it("end the session when the client goes", async () => {
    const ended = vi.fn()
    await serving(never(ended))
    ;(await silent()).destroy()
    await vi.waitFor(() => expect(ended).toHaveBeenCalledOnce())
  })

  it("are closed as going away when the service stops, and cut off where the client does not answer", async () => {
    const ended = vi.fn()
    const url = await serving(never(ended), { http: { sockets: { ping: 60_000, farewell: 50 } } })
    const good = new WebSocket(url)
    const closed = once(good, "close")
    await once(good, "open")
    const deaf = await silent()
    await service.stop()
    expect((await closed)[0]).toBe(1001)
    expect(ended).toHaveBeenCalledTimes(2)
    deaf.destroy()
  })

  it("that are still being opened when the service stops are cut off at the deadline", async () => {
    const begun = vi.fn()
    const slow = operation({
      id: "slow",
      route: "GET /socket",
      group: "Range",
      does: "open a socket",
      summary: "sample",
      access: "anonymous",
      target: "none",
      output: { type: "socket", protocol: "binary" },
      statuses: { 101: "open", 400: "bad", 404: undefined, 500: undefined },
      handle: () => Effect.andThen(Effect.sync(begun), Effect.never),
    })
    service = await startService({ operations: [slow] })
    const socket = new WebSocket(`ws://127.0.0.1:${service.port}/api/v2/socket`)
    const failed = once(socket, "error")
    await vi.waitFor(() => expect(begun).toHaveBeenCalledOnce())
    await service.stop(50)
    await failed
  })

  it("that cannot be opened tell the reason to a page of the service, which sees no other answer, and answer others", async () => {
    const url = await serving(new Failed({ what: "the hypervisor refuses it", hint: "Look there." }))
    const page = new WebSocket(url, { origin: `http://127.0.0.1:${service.port}` })
    const [code, reason] = (await once(page, "close")) as [number, Buffer]
    expect([code, reason.toString()]).toEqual([1011, "the hypervisor refuses it"])
    for (const origin of [undefined, "https://other.example"]) {
      const other = new WebSocket(url, origin === undefined ? {} : { origin })
      const [error] = (await once(other, "error")) as [Error]
      expect(error.message).toContain("500")
    }
    expect(service.answered.filter(({ operation }) => operation === "socket").map(({ status }) => status)).toEqual([
      500, 500, 500,
    ])
  })

  it("tell of a session that fails in the log alone", async () => {
    const url = await serving({ serve: () => Effect.die(new Error("secret")), abandon: Effect.void })
    const socket = new WebSocket(url)
    const [code, reason] = (await once(socket, "close")) as [number, Buffer]
    expect([code, reason.toString()]).toEqual([1011, "the session failed"])
    await vi.waitFor(() => expect(service.defects[0]?.cause).toContain("secret"))
  })

  it("are opened where there are some, and every other request that asks to be upgraded is answered as if it had not", async () => {
    const url = await serving(never())
    const get = (path: string, upgrade: string) =>
      new Promise<string>((resolve) => {
        const socket = connect(service.port, "127.0.0.1")
        const head = `Host: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: ${upgrade}\r\nX-API-KEY: ${service.keys.member}\r\n`
        socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n`)
        socket.once("data", (data) => {
          socket.destroy()
          resolve(data.toString().split("\r\n")[0] ?? "")
        })
      })
    expect(await get("/api/v2/", "h2c")).toBe("HTTP/1.1 200 OK")
    expect(await get("/api/v2/", "websocket")).toBe("HTTP/1.1 200 OK")
    expect(await get("/api/v2/socket", "h2c")).toBe("HTTP/1.1 400 Bad Request")
    expect(await get("/api/v2/socket", "websocket")).toBe("HTTP/1.1 400 Bad Request")
    expect(url).toContain("socket")
  })

  it("are refused to a request that did not wait for the answer before it, which harms nobody else", async () => {
    const url = await serving(never())
    const socket = connect(service.port, "127.0.0.1")
    socket.on("error", () => undefined).resume()
    socket.write(`GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n${handshake}`)
    await once(socket, "close")
    const other = new WebSocket(url)
    await once(other, "open")
    other.terminate()
  })

  it("are refused while too many are being opened, and not longer", { timeout: 30_000 }, async () => {
    let open = () => undefined as void
    const gate = new Promise<void>((resolve) => (open = resolve))
    const slow = operation({
      id: "slow",
      route: "GET /socket",
      group: "Range",
      does: "open a socket",
      summary: "sample",
      access: "anonymous",
      target: "none",
      output: { type: "socket", protocol: "binary" },
      statuses: { 101: "open", 400: "bad", 404: undefined, 500: undefined },
      handle: () =>
        Effect.as(
          Effect.promise(() => gate),
          never(),
        ),
    })
    service = await startService({ operations: [slow] })
    const url = `ws://127.0.0.1:${service.port}/api/v2/socket`
    const sockets = Array.from({ length: 600 }, () => new WebSocket(url))
    const outcomes = sockets.map(
      (socket) =>
        new Promise<string>((resolve) => {
          socket.on("open", () => resolve("open"))
          socket.on("error", ({ message }) => resolve(message))
        }),
    )
    const refused = await vi.waitFor(async () => {
      const known = await Promise.all(outcomes.map((outcome) => Promise.race([outcome, Promise.resolve("waits")])))
      expect(known.filter((one) => one !== "waits")).toHaveLength(600 - 512)
      return known.filter((one) => one !== "waits")
    }, 20_000)
    expect(new Set(refused)).toEqual(new Set(["Unexpected server response: 502"]))
    open()
    expect((await Promise.all(outcomes)).filter((one) => one === "open")).toHaveLength(512)
    const more = new WebSocket(url)
    await once(more, "open")
    for (const socket of [...sockets, more]) socket.terminate()
  })
})
