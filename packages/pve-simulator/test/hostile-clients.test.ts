import { type IncomingMessage, request as httpRequest } from "node:http"
import { connect, type Socket } from "node:net"
import { Readable } from "node:stream"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createSimulator, type Simulator } from "../src/index.ts"
import { listen, type Listener } from "../src/http/server.ts"
import { bodyReader } from "../src/http/body.ts"
import { createRealClock } from "../src/core/clock.ts"

let sim: Simulator
let server: Listener
let open: Socket[]
beforeEach(async () => {
  sim = createSimulator({ speed: 1000 })
  open = []
  server = await listen({
    handle: sim.handle,
    onConsole: () => undefined,
    clock: createRealClock({ speed: 1000 }),
    patience: 300,
    host: "127.0.0.1",
    port: 0,
    certificate: undefined,
  })
})
afterEach(async () => {
  for (const socket of open) socket.destroy()
  await server.close()
  await sim.close()
})

/** A connection on which this was said, and what comes of it until its end. */
const say = (text: string): Promise<string> => {
  const socket = connect(server.port, server.host)
  open.push(socket)
  let heard = ""
  socket.on("data", (data) => (heard += data.toString("latin1")))
  socket.on("error", () => socket.destroy())
  socket.on("connect", () => socket.write(text, "latin1"))
  return new Promise((resolve) => socket.on("close", () => resolve(heard)))
}

const authorization = () => `Authorization: PVEAPIToken=${sim.rootToken}`
const post = (path: string, length: number) =>
  `POST /api2/json${path} HTTP/1.1\r\n${authorization()}\r\nContent-Length: ${length}\r\n\r\n`

const version = (): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `PVEAPIToken=${sim.rootToken}` }
    httpRequest({ host: server.host, port: server.port, path: "/api2/json/version", headers, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on("error", reject)
      .end()
  })

test("a client that falls silent in the middle of a request is disconnected, and others are served meanwhile", async () => {
  const silent = [
    say(""),
    say("GET /api2/json/version HTTP/1.1\r\nA: b"),
    say(post("/pools", 1000)),
    say(`${post("/pools", 1000)}poolid=x`),
  ]
  expect(await version()).toBe(200)
  expect(await Promise.all(silent)).toEqual(["", "", "", ""])
})

test("a body that is sent too slowly is cut off", async () => {
  const dripping = say(post("/pools", 100_000))
  const socket = open[0]!
  const drops = setInterval(() => socket.write("x"), 50)
  expect(await dripping).toBe("")
  clearInterval(drops)
})

test("connections beyond 1,500 are refused, and there is room again once others are closed", { timeout: 30_000 }, async () => {
  const ended = Array.from({ length: 4000 }, () => say(`GET /api2/json/version HTTP/1.1\r\n${"x".repeat(4000)}`))
  expect(new Set(await Promise.all(ended))).toEqual(new Set([""]))
  expect(await version()).toBe(200)
})

test("bodies that are read at once share a limit", async () => {
  const readBody = bodyReader(60_000)
  const streams = Array.from({ length: 200 }, () => Object.assign(new Readable({ read: () => undefined }), { socket: {} }))
  const outcomes = streams.map((stream) =>
    readBody(stream as unknown as IncomingMessage).then(
      ({ length }) => length,
      () => "left",
    ),
  )
  // none is whole while others come
  for (const stream of streams) stream.push(Buffer.alloc(512 * 1024))
  await new Promise((resolve) => setImmediate(resolve))
  for (const stream of streams) stream.push(null)
  const kept = (await Promise.all(outcomes)).filter((outcome) => outcome === 512 * 1024)
  expect(kept).toHaveLength(128)
  const later = Object.assign(Readable.from([Buffer.from("x")]), { socket: {} }) as unknown as IncomingMessage
  expect(await readBody(later)).toEqual(Buffer.from("x"))
})

test("of requests pipelined on one connection only a hundred have an effect", async () => {
  const pools = Array.from({ length: 300 }, (_, n) => {
    const body = `poolid=p${n}`
    return post("/pools", body.length) + body
  })
  const heard = await say(pools.join(""))
  expect(heard.split("HTTP/1.1 200").length - 1).toBe(100)
  expect([...sim.state.pools.keys()].filter((name) => name.startsWith("p"))).toHaveLength(100)
})

test("garbage is answered in one line or not at all, and changes nothing", async () => {
  const before = structuredClone(sim.state)
  const garbage = [
    "\0".repeat(100),
    "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
    "GET\r\n\r\n",
    "GET / HTTP/9.9\r\n\r\n",
    `GET / HTTP/1.1\r\n${"A: b\r\n".repeat(100_000)}\r\n`,
    "POST /api2/json/pools HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    "POST /api2/json/pools HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    "GET /api2/json/nodes/pve/vncwebsocket HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  ]
  for (const answer of await Promise.all(garbage.map(say)))
    expect(answer.split("\r\n")[0]).toMatch(/^(?:HTTP\/1\.1 [45]\d\d .*)?$/u)
  expect(sim.state).toEqual(before)
  expect(await version()).toBe(200)
})
