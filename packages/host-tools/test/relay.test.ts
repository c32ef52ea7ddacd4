import * as Effect from "effect/Effect"
import { mkdtemp, rm } from "node:fs/promises"
import { type AddressInfo, createServer as createTcpServer, Server } from "node:net"
import { createServer, request, Server as HttpServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { dialDirectly } from "../src/dial.ts"
import { openRelay, relaySocket } from "../src/relay.ts"

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rw-relay-"))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** Gives back what it is told. */
const echo = () => listening(createTcpServer((socket) => socket.pipe(socket)))

/** Only the servers of the test are permitted, by the name `inside`. */
const permission = (host: string, port: number) =>
  Promise.resolve(
    host === "inside" ? { addresses: ["127.0.0.1"] } : { because: `${host}:${port} may not be reached from here: no` },
  )

const withRelay = <A>(use: (refused: readonly string[]) => Promise<A>): Promise<A> => {
  const refused: string[] = []
  const work = Effect.gen(function* () {
    yield* openRelay(folder, { permission, dial: dialDirectly, onRefused: (because) => refused.push(because) })
    return yield* Effect.promise(() => use(refused))
  })
  return Effect.runPromise(Effect.scoped(work))
}

/** What comes back through a tunnel, or the status that it is refused with. */
const tunnel = (to: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const asked = request({ socketPath: join(folder, relaySocket), method: "CONNECT", path: to })
    asked.on("error", reject)
    asked.on("connect", (answer, socket) => {
      if (answer.statusCode !== 200) return resolve(`${answer.statusCode} ${answer.statusMessage}`)
      let heard = ""
      socket.on("data", (bytes: Buffer) => (heard += bytes.toString()))
      socket.once("end", () => resolve(heard))
      socket.end(text)
    })
    asked.end()
  })

const get = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const asked = request({ socketPath: join(folder, relaySocket), path: url, headers: { host: "elsewhere" } }, (answer) => {
      let body = ""
      answer.on("data", (bytes: Buffer) => (body += bytes.toString()))
      answer.once("end", () => resolve(`${answer.statusCode} ${body}`))
    })
    asked.on("error", reject)
    asked.end()
  })

describe("the relay of a run", () => {
  it("connects to what is permitted, and passes on everything both ways", async () => {
    const port = await echo()
    const text = "x".repeat(300_000)
    expect(await withRelay(() => tunnel(`inside:${port}`, text))).toBe(text)
  })

  it("gives an upload all the time it takes, and a request line a minute", async () => {
    const servers: HttpServer[] = []
    const listen = vi.spyOn(HttpServer.prototype, "listen").mockImplementation(function (this: HttpServer, ...given: unknown[]) {
      servers.push(this)
      return Reflect.apply(Server.prototype.listen, this, given) as HttpServer
    })
    onTestFinished(() => listen.mockRestore())
    await withRelay(() => Promise.resolve())
    expect(servers.map(({ requestTimeout, headersTimeout }) => [requestTimeout, headersTimeout])).toEqual([[0, 60_000]])
  })

  it("refuses everything else and reports the reason", async () => {
    const port = await echo()
    await withRelay(async (refused) => {
      expect(await tunnel(`127.0.0.1:${port}`, "x")).toBe(`403 127.0.0.1:${port} may not be reached from here: no`)
      expect(await tunnel(`[::1]:${port}`, "x")).toBe(`403 ::1:${port} may not be reached from here: no`)
      expect(await get(`http://127.0.0.1:${port}/`)).toContain("403 127.0.0.1")
      for (const odd of ["inside", "inside:", "inside:x", `inside:${port}:1`, `a@inside:${port}`, ":1"])
        expect(await tunnel(odd, "x"), odd).toMatch(/^403 /u)
      expect(refused.length).toBeGreaterThan(3)
    })
  })

  it("says when nothing answers there", async () => {
    const gone = createTcpServer()
    const port = await listening(gone)
    await new Promise((resolve) => gone.close(resolve))
    expect(await withRelay(() => tunnel(`inside:${port}`, "x"))).toBe(`500 inside:${port} cannot be reached: connection refused`)
  })

  it("passes on plain HTTP to the host of the URL, whatever the header says", async () => {
    const server = createServer((asked, answer) =>
      answer.end(`${asked.headers.host} ${asked.url} ${String(asked.headers["proxy-connection"])}`),
    )
    const port = await listening(server)
    await withRelay(async () => {
      expect(await get(`http://inside:${port}/a?b=c`)).toBe(`200 inside:${port} /a?b=c undefined`)
      expect(await get("/a")).toContain("500 only http URLs are forwarded")
      expect(await get("ftp://inside/a")).toContain("500 only http URLs are forwarded")
    })
  })

  it.each([
    ["a status that is none", "HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n"],
    ["a trailer without chunks", "HTTP/1.1 200 OK\r\nTrailer: X\r\nContent-Length: 0\r\n\r\n"],
    ["another protocol", "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"],
    ["no HTTP", "\0\0\0\0\r\n\r\n"],
    ["nothing", ""],
  ])("outlives a server that answers with %s", async (_, said) => {
    const port = await listening(createTcpServer((socket) => void socket.on("error", () => {}).end(said)))
    const other = await listening(createServer((_asked, answer) => answer.end("well")))
    await withRelay(async () => {
      expect(await get(`http://inside:${port}/`)).toMatch(/^(?:200 $|500 inside:|500 Parse Error|500 socket hang up)/u)
      expect(await get(`http://inside:${other}/`)).toBe("200 well")
    })
  })

  it("ends with its run, closing all its connections", async () => {
    const port = await echo()
    let closed: Promise<void> | undefined
    await withRelay(
      () =>
        new Promise<void>((resolve) => {
          const asked = request({ socketPath: join(folder, relaySocket), method: "CONNECT", path: `inside:${port}` })
          asked.on("connect", (_, socket) => {
            closed = new Promise((done) => socket.once("close", () => done()))
            socket.on("error", () => {})
            resolve()
          })
          asked.end()
        }),
    )
    await closed
    await expect(tunnel(`inside:${port}`, "x")).rejects.toThrow(/ECONNREFUSED|ENOENT/u)
  })
})
