import { ImageServers } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { createServer, type RequestListener, type Server } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { afterEach, expect, it } from "vitest"
import { imageServersLayer, type InternetOptions } from "../src/index.ts"

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
})

/** Servers of public names, behind which one of this host stands. `dialled`: what was connected to. */
const open = async (answers: RequestListener, more: InternetOptions = {}) => {
  const dialled: string[] = []
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.host}${request.url}`)
    answers(request, response)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const names: Readonly<Record<string, readonly string[]>> = {
    "images.example": ["93.184.215.14"],
    "inside.example": ["10.0.0.1"],
    "loopback.example": ["127.0.0.1"],
    "hypervisor.example": ["93.184.215.99"],
  }
  const layer = imageServersLayer({
    never: () => Promise.resolve(["93.184.215.99"]),
    resolve4: (name) => Promise.resolve(names[name] ?? []),
    dial: (address, port) => {
      dialled.push(`${address}:${port}`)
      return Promise.resolve(connect((server.address() as AddressInfo).port, "127.0.0.1"))
    },
    ...more,
  })
  const run = <A>(effect: Effect.Effect<A, never, ImageServers>) => Effect.runPromise(Effect.provide(effect, layer))
  return {
    dialled,
    asked,
    look: (url: string) => run(ImageServers.use((port) => port.look(url))),
    read: (url: string) => run(ImageServers.use((port) => port.read(url))),
    fetch: async (url: string, most = 1024 ** 2) => {
      const parts: Uint8Array[] = []
      const told = await run(ImageServers.use((port) => port.fetch(url, most, (part) => Promise.resolve(void parts.push(part)))))
      return { told, text: Buffer.concat(parts).toString("utf8") }
    },
  }
}

it("asks for what is known of an image and not for the image", async () => {
  const { look, asked, dialled } = await open((_, response) =>
    response.writeHead(200, { "content-length": "600000000", "last-modified": "Mon, 01 Jan 2026 00:00:00 GMT" }).end(),
  )
  expect(await look("http://images.example/a.iso?x=1")).toEqual({
    state: "there",
    bytes: 600_000_000,
    lastModified: "Mon, 01 Jan 2026 00:00:00 GMT",
  })
  expect([asked, dialled]).toEqual([["HEAD images.example/a.iso?x=1"], ["93.184.215.14:80"]])
})

it("asks a server that does not know the question for the file, and reads nothing of it", async () => {
  const { look, asked } = await open((request, response) => {
    if (request.method === "HEAD") return void response.writeHead(405).end()
    response.writeHead(200, { "content-length": "600000000" }).write("x")
  })
  expect(await look("http://images.example/a.iso")).toMatchObject({ state: "there", bytes: 600_000_000 })
  expect(asked).toEqual(["HEAD images.example/a.iso", "GET images.example/a.iso"])
})

it("tells what is gone from what cannot be told", async () => {
  const { look } = await open((request, response) => {
    if (request.url === "/broken") return void response.destroy()
    response.writeHead(Number(request.url?.slice(1))).end()
  })
  expect((await look("http://images.example/404")).state).toBe("gone")
  expect((await look("http://images.example/410")).state).toBe("gone")
  expect(await look("http://images.example/403")).toEqual({ state: "unknown", because: "its server answers with status 403" })
  expect((await look("http://images.example/broken")).state).toBe("unknown")
})

it.each([
  ["http://inside.example/a.iso", "public"],
  ["http://loopback.example/a.iso", "public"],
  ["http://hypervisor.example/a.iso", "public"],
  ["http://127.0.0.1/a.iso", "public"],
  ["http://2130706433/a.iso", "public"],
  ["http://0x7f.1/a.iso", "public"],
  ["http://[::1]/a.iso", "public"],
  ["http://[::ffff:127.0.0.1]/a.iso", "public"],
  ["http://169.254.169.254/latest/meta-data", "public"],
  ["http://localhost/a.iso", "public"],
  ["http://93.184.215.99/a.iso", "public"],
  ["file:///etc/passwd", "only http and https"],
  ["ftp://images.example/a.iso", "only http and https"],
  ["http://u:p@images.example/a.iso", "login"],
  ["no url", "only http and https"],
])("%s is not connected to, neither by itself nor after a redirect", async (url, because) => {
  const { look, dialled } = await open((_, response) => response.writeHead(302, { location: url }).end())
  expect(await look(url)).toEqual({ state: "unknown", because: expect.stringContaining(because) })
  expect(dialled).toEqual([])
  const behind = await look("http://images.example/a.iso")
  expect(behind.state).toBe("unknown")
  expect(dialled.every((one) => one === "93.184.215.14:80")).toBe(true)
})

it("follows few redirects, waits not long, and asks nothing where the internet is not to be used", async () => {
  const circle = await open((_, response) => response.writeHead(301, { location: "/again" }).end())
  expect(await circle.look("http://images.example/a")).toMatchObject({ because: expect.stringContaining("more than 5 times") })
  const silent = await open(() => undefined, { timeoutMillis: 100 })
  expect(await silent.look("http://images.example/a")).toMatchObject({ because: expect.stringContaining("did not answer") })
  const off = await open(() => undefined, { internet: false })
  expect(await off.look("http://images.example/a")).toMatchObject({ because: expect.stringContaining("tool_internet") })
  expect(off.dialled).toEqual([])
})

it("reads short texts only", async () => {
  const { read } = await open((request, response) => {
    if (request.url === "/short") return void response.end("abc  a.iso\n")
    const more = () =>
      void (response.writableEnded || response.destroyed || (response.write("x".repeat(65_536)), setImmediate(more)))
    response.on("error", () => undefined)
    more()
  })
  expect(await read("http://images.example/short")).toEqual({ state: "there", text: "abc  a.iso\n" })
  expect(await read("http://images.example/endless")).toMatchObject({
    state: "unknown",
    because: expect.stringContaining("longer"),
  })
})

it("gives a whole file on as it comes, also where a server redirects to another public one", async () => {
  const { fetch } = await open((request, response) => {
    if (request.url === "/latest.iso") response.writeHead(302, { location: "http://images.example/12.iso" }).end()
    else response.end("x".repeat(300_000))
  })
  expect(await fetch("http://images.example/latest.iso")).toEqual({
    told: { state: "there", bytes: 300_000 },
    text: "x".repeat(300_000),
  })
})

const untold: readonly (readonly [string, RequestListener, RegExp])[] = [
  ["is missing", (_, response) => response.writeHead(404).end(), /no such file/u],
  [
    "says that it is too long",
    (_, response) => response.writeHead(200, { "content-length": "2000000" }).end(),
    /longer than 1 MiB/u,
  ],
  ["is too long without saying so", (_, response) => response.end("x".repeat(1_200_000)), /longer than 1 MiB/u],
  [
    "ends early",
    (_, response) =>
      void response.writeHead(200, { "content-length": "20000" }).write("x", () => setImmediate(() => response.destroy())),
    /closed the connection|ended it early/u,
  ],
  ["leads inside", (_, response) => response.writeHead(302, { location: "http://inside.example/a" }).end(), /no public|not/u],
  ["falls silent", (_, response) => void response.writeHead(200, { "content-length": "20000" }).write("x"), /sent nothing for/u],
]
it.each(untold)("does not give a file for whole that %s", async (_, answers, because) => {
  const { fetch } = await open(answers, { timeoutMillis: 50 })
  const { told } = await fetch("http://images.example/a.iso")
  expect(told.state).not.toBe("there")
  expect("because" in told ? told.because : "").toMatch(because)
})

it("connects to no address inside for a file", async () => {
  const { fetch, dialled } = await open((_, response) => response.end("x"))
  for (const host of ["inside.example", "loopback.example", "hypervisor.example", "127.0.0.1", "169.254.169.254", "[::1]"])
    expect([host, (await fetch(`http://${host}/a`)).told.state]).toEqual([host, "unknown"])
  expect((await fetch("file:///etc/passwd")).told).toEqual({
    state: "unknown",
    because: "only http and https URLs are supported",
  })
  expect(dialled).toEqual([])
})
