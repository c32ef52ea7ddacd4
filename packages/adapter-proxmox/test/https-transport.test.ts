import { createServer, type RequestListener } from "node:http"
import { once } from "node:events"
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import { httpsTransport, type PveRequest, type PveTls, TransportFailure } from "../src/index.ts"

const closing: (() => void)[] = []
afterEach(() => closing.splice(0).forEach((close) => close()))

/** A node that does whatever the test wants, over plain HTTP: how TLS is trusted is tested with a real certificate elsewhere. */
const nodeThat = async (listener: RequestListener) => {
  let connections = 0
  const server = createServer(listener)
  server.on("connection", () => void (connections += 1))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const transport = httpsTransport(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  closing.push(() => {
    transport.close?.()
    server.closeAllConnections()
    server.close()
  })
  const send = (change: Partial<PveRequest> = {}) =>
    transport.send(
      { method: "GET", path: "/api2/json/version?a=1", headers: {}, body: undefined, timeoutMs: 5_000, ...change },
      new AbortController().signal,
    )
  return { send, connections: () => connections }
}

const failureOf = async (sent: Promise<unknown>): Promise<TransportFailure> => {
  const failure = await sent.then(
    () => undefined,
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(TransportFailure)
  return failure as TransportFailure
}

describe("a transport", () => {
  it("sends the request as it is, its body with a length and not in chunks", async () => {
    const seen: unknown[] = []
    const node = await nodeThat((request, response) => {
      request.setEncoding("utf8")
      request.on("data", (body) =>
        seen.push(request.method, request.url, request.headers["content-length"], request.headers["transfer-encoding"], body),
      )
      request.on("end", () => response.writeHead(500, "VM is locked (clone)").end("é"))
    })
    const answer = await node.send({ method: "POST", body: "a=%C3%A9" })
    expect(seen).toEqual(["POST", "/api2/json/version?a=1", "8", undefined, "a=%C3%A9"])
    expect(answer).toMatchObject({ status: 500, statusText: "VM is locked (clone)" })
    expect(new TextDecoder().decode(answer.body)).toBe("é")
  })

  it("keeps its connection for the next request", async () => {
    const node = await nodeThat((_, response) => response.end("{}"))
    for (let n = 0; n < 5; n += 1) await node.send()
    expect(node.connections()).toBe(1)
  })

  it("is sent at once while many others wait for nodes that do not answer", async () => {
    const node = await nodeThat((request, response) => {
      if (request.url === "/api2/json/version") response.end("{}")
    })
    const hanging = Array.from({ length: 40 }, (_, n) => failureOf(node.send({ path: `/api2/json/nodes/pve${n}/status` })))
    expect((await node.send({ path: "/api2/json/version", timeoutMs: 2_000 })).status).toBe(200)
    closing.splice(0).forEach((close) => close())
    await Promise.all(hanging)
  })

  it("that is not answered in time counts as delivered", async () => {
    const node = await nodeThat(() => {})
    const failure = await failureOf(node.send({ timeoutMs: 50 }))
    expect(failure).toMatchObject({ delivered: true, message: "no answer within 0.05 s" })
  })

  it("whose connection is reset counts as delivered", async () => {
    const node = await nodeThat((request) => request.socket.destroy())
    expect((await failureOf(node.send())).delivered).toBe(true)
  })

  it("whose answer breaks off counts as delivered", async () => {
    const node = await nodeThat((_, response) => {
      response.writeHead(200, { "content-length": "1000" })
      response.write("{")
      setImmediate(() => response.destroy())
    })
    expect((await failureOf(node.send())).delivered).toBe(true)
  })

  it("whose answer has no end is cut off", async () => {
    const node = await nodeThat((_, response) => {
      const block = Buffer.alloc(4 * 1024 * 1024)
      const more = (): void => {
        while (!response.destroyed && response.write(block));
        if (!response.destroyed) response.once("drain", more)
      }
      more()
    })
    const failure = await failureOf(node.send())
    expect(failure.message).toContain("larger than")
  })

  it("to a port where nobody listens was not delivered", async () => {
    const transport = httpsTransport("https://127.0.0.1:9")
    const request: PveRequest = { method: "GET", path: "/", headers: {}, body: undefined, timeoutMs: 1_000 }
    expect((await failureOf(transport.send(request, new AbortController().signal))).delivered).toBe(false)
  })

  it("that is closed lets go of a connection to a pinned node that hangs before TLS is up", async () => {
    const server = createTcpServer()
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    closing.push(() => server.close())
    const accepted = once(server, "connection") as Promise<[Socket]>
    const { port } = server.address() as AddressInfo
    const transport = httpsTransport(`https://127.0.0.1:${port}`, { fingerprint: "AB".repeat(32) })
    const request: PveRequest = { method: "GET", path: "/", headers: {}, body: undefined, timeoutMs: 60_000 }
    const failed = failureOf(transport.send(request, new AbortController().signal))
    const [socket] = await accepted
    const closed = once(socket.resume(), "close")
    transport.close?.()
    expect((await failed).delivered).toBe(false)
    await closed
  })

  it.each([
    ["a pin", { fingerprint: "AB".repeat(32) }],
    ["no pin", { insecure: true }],
  ])("with %s to a node that takes connections and says nothing was not delivered", async (_, trust) => {
    const server = createTcpServer((socket) => void socket.on("error", () => socket.destroy()).resume())
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const { port } = server.address() as AddressInfo
    const transport = httpsTransport(`https://127.0.0.1:${port}`, trust)
    closing.push(
      () => server.close(),
      () => transport.close?.(),
    )
    const request: PveRequest = { method: "POST", path: "/", headers: {}, body: "", timeoutMs: 50 }
    const failure = await failureOf(transport.send(request, new AbortController().signal))
    expect(failure).toMatchObject({ delivered: false, message: "no connection within 0.05 s" })
  })

  it("refuses plain HTTP to another host, and names what would be sent", () => {
    const problem = '"http://pve1.example:8006" would send the credentials unencrypted: write https://pve1.example:8006'
    expect(() => httpsTransport("http://pve1.example:8006")).toThrow(new RangeError(problem))
  })

  it.each<[PveTls, string]>([
    [{ fingerprint: "AB:CD" }, "tls.fingerprint is not the SHA-256 of a certificate, 32 bytes in hex"],
    [{ fingerprint: ["AB".repeat(32), ""] }, "tls.fingerprint is not the SHA-256 of a certificate, 32 bytes in hex"],
    [{ ca: "/etc/pve/pve-root-ca.pem" }, "tls.ca is not a certificate in PEM"],
  ])("refuses a trust that no certificate satisfies: %j", (trust, problem) => {
    expect(() => httpsTransport("https://pve1.example:8006", trust)).toThrow(new RangeError(problem))
  })

  it.each(["ftp://pve", "not a url", "", "pve1.example:8006", "192.0.2.1:8006"])(
    "refuses %j, and says that it is no https or http URL",
    (text) => {
      expect(() => httpsTransport(text)).toThrow(new RangeError(`"${text}" is not an https or http URL`))
    },
  )

  it.each([
    ["at once", (socket: Socket) => void socket.write("SSH-2.0-OpenSSH_10.0\r\n")],
    [
      "after the first bytes, and closes",
      (socket: Socket) => void socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n")),
    ],
  ])("says that nothing speaks TLS where other words come %s", async (_, answer) => {
    const server = createTcpServer((socket) => {
      socket.on("error", () => undefined)
      answer(socket)
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const transport = httpsTransport(`https://127.0.0.1:${(server.address() as AddressInfo).port}`)
    closing.push(() => {
      transport.close?.()
      server.close()
    })
    const failure = await failureOf(
      transport.send({ method: "POST", path: "/", headers: {}, body: "a=1", timeoutMs: 5_000 }, new AbortController().signal),
    )
    expect(failure.message).toMatch(/wrong version number/u)
    expect(failure.message).not.toContain("\n")
    expect(failure.hint).toContain("does not use TLS")
  })
})
