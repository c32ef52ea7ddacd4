import { loadOrCreateCertificate } from "@rangewright/adapter-crypto"
import type { Operation } from "@rangewright/application"
import * as Effect from "effect/Effect"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { request as httpsRequest } from "node:https"
import { connect, type Socket } from "node:net"
import { networkInterfaces, tmpdir } from "node:os"
import { join } from "node:path"
import { connect as connectTls } from "node:tls"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { HttpApp } from "../src/http-app.ts"
import { listen } from "../src/listen.ts"
import { gated, samples, waiting } from "./sample-operations.ts"
import { startService } from "./support.ts"

const folder = mkdtempSync(join(tmpdir(), "rangewright-http-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let tls: { readonly cert: string; readonly key: string }
beforeAll(async () => {
  tls = await Effect.runPromise(loadOrCreateCertificate(join(folder, "tls.pem"), ["localhost", "127.0.0.1"], new Date()))
})

const answerOf = async (socket: Socket): Promise<string> => {
  let text = ""
  socket.on("data", (chunk: Buffer) => (text += chunk.toString()))
  socket.on("error", () => undefined)
  return new Promise((resolve) => socket.on("close", () => resolve(text)))
}

const secureGet = (port: number, path: string, headers: Record<string, string>): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    httpsRequest({ host: "127.0.0.1", port, path, headers, ca: tls.cert, agent: false }, (response) => {
      let text = ""
      response
        .on("data", (chunk: Buffer) => (text += chunk.toString()))
        .on("end", () => resolve({ status: response.statusCode ?? 0, text }))
    })
      .on("error", reject)
      .end()
  })

const outsideAddress = Object.values(networkInterfaces())
  .flat()
  .find((address) => address?.family === "IPv4" && !address.internal)?.address

describe("one port", () => {
  it("speaks TLS, and plain HTTP to this machine", async () => {
    const service = await startService({ operations: samples, tls })
    const headers = { "x-api-key": service.keys.member }
    expect(await secureGet(service.port, "/api/v2/", headers)).toEqual({ status: 200, text: '{"result":"ME -"}\n' })
    expect(await (await fetch(`${service.url}/api/v2/`, { headers })).json()).toEqual({ result: "ME -" })
    await service.stop()
  })

  it("takes a session over TLS from pages that came over TLS alone", async () => {
    const service = await startService({ operations: samples, tls })
    // nobody's session: 401 says that it was looked at
    const cookie = `__Host-rangewright=${"a".repeat(43)}`
    const ask = (origin: string) => secureGet(service.port, "/api/v2/", { cookie, origin: `${origin}:${service.port}` })
    expect((await ask("https://127.0.0.1")).status).toBe(401)
    expect(await ask("http://127.0.0.1")).toMatchObject({ status: 403, text: expect.stringContaining("page of the service") })
    const plain = await fetch(`${service.url}/api/v2/`, { headers: { cookie, origin: service.url } })
    expect(plain.status).toBe(401)
    await service.stop()
  })

  it("waits for the first byte, and takes a handshake in pieces", async () => {
    const service = await startService({ operations: samples, tls })
    const silent = connect(service.port, "127.0.0.1")
    await once(silent, "connect")
    const pieces = connect(service.port, "127.0.0.1")
    pieces.setNoDelay(true)
    const secure = connectTls({ socket: pieces, ca: tls.cert, host: "127.0.0.1" })
    await once(secure, "secureConnect")
    secure.write(`GET /api/v2/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-KEY: ${service.keys.member}\r\n\r\n`)
    expect(await answerOf(secure)).toContain("ME -")
    silent.write(`GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(await answerOf(silent)).toContain('{"status":"ok"}')
    await service.stop()
  })

  it("survives scanners: half a handshake, a refused certificate, garbage", async () => {
    const service = await startService({ operations: samples, tls })
    const half = connect(service.port, "127.0.0.1")
    half.end(Buffer.from([0x16, 0x03, 0x01, 0x02]))
    await answerOf(half)
    const distrusting = connectTls({ port: service.port, host: "127.0.0.1" })
    await once(distrusting, "error")
    const garbage = connect(service.port, "127.0.0.1")
    garbage.write(Buffer.from([0x16, 0, 0, 0, 0, 0, 0, 0]))
    await answerOf(garbage)
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
    expect(service.defects).toEqual([])
    await service.stop()
  })

  it("does not wait forever for a request that trickles in, with or without TLS", async () => {
    const limits = { headersTimeout: 50, connectionsCheckingInterval: 10 }
    const service = await startService({ operations: samples, tls, limits })
    const plain = connect(service.port, "127.0.0.1")
    const secure = connectTls({ port: service.port, host: "127.0.0.1", ca: tls.cert })
    for (const socket of [plain, secure]) {
      socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ")
      expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 400 .*did not arrive in time/su)
    }
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
    await service.stop()
  })

  it.skipIf(outsideAddress === undefined)("tells plain HTTP from elsewhere to use https, and serves nothing", async () => {
    const service = await startService({ operations: samples, tls, host: "0.0.0.0" })
    const socket = connect(service.port, outsideAddress)
    socket.write(`GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`)
    const answer = await answerOf(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 400 .*https:\/\//su)
    expect(answer).not.toContain("ok")
    expect(service.answered).toEqual([])
    await service.stop()
  })
})

describe("a stop", () => {
  it("answers requests in flight and closes their connections, accepts no new ones, and then ends", async () => {
    const slow = gated("POST")
    const service = await startService({ operations: [slow.operation], tls })
    const inFlight = fetch(`${service.url}/api/v2/gated`, { method: "POST", headers: { "x-api-key": service.keys.member } })
    await slow.entered
    const stopped = service.stop()
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow("fetch failed")
    slow.open()
    const answer = await inFlight
    expect(await answer.json()).toEqual({ result: "done" })
    await stopped
  })

  it("sends answers to their end, to slow readers as well", async () => {
    // more than the system buffers
    const size = 64 * 1024 ** 2
    const app: HttpApp = {
      handle: (_request, response) => void response.end(Buffer.alloc(size, "x")),
      upgrades: () => false,
      upgrade: () => undefined,
      stop: () => undefined,
      end: () => Promise.resolve(0),
    }
    const listener = await listen(app, { host: "127.0.0.1", port: 0, tls: undefined })
    const reader = connect(listener.port, "127.0.0.1")
    reader.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
    await once(reader, "readable")
    const closed = listener.close(10_000)
    expect((await answerOf(reader)).length).toBeGreaterThan(size)
    await closed
  })

  it("ends changes that wait for their turn, with the reason and a hint", async () => {
    const patient = waiting()
    const service = await startService({ operations: [patient.operation] })
    const asked = fetch(`${service.url}/api/v2/waiting`, { method: "POST", headers: { "x-api-key": service.keys.member } })
    await patient.entered
    const stopped = service.stop()
    const answer = await asked
    expect([answer.status, await answer.json()]).toMatchObject([409, { detail: expect.stringContaining("cut short") as string }])
    await stopped
    expect(service.defects).toEqual([])
  })

  it("ends within its deadline although clients do not: silent, idle, half a request, endless work", async () => {
    const slow = gated("GET")
    const service = await startService({ operations: [...samples, slow.operation], tls })
    const connected = async (bytes: string | Buffer) => {
      const socket = connect(service.port, "127.0.0.1")
      await once(socket, "connect")
      if (bytes.length > 0) socket.write(bytes)
      return answerOf(socket)
    }
    const endless = fetch(`${service.url}/api/v2/gated`, { headers: { "x-api-key": service.keys.member } }).then(
      () => "answered",
      () => "cut",
    )
    const clients = [
      connected(""),
      connected("GET / HT"),
      connected(Buffer.from([0x16, 3, 1, 2, 0])),
      connected("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"),
    ]
    await slow.entered
    await service.stop(200)
    await Promise.all(clients)
    expect(await endless).toBe("cut")
    expect(await slow.ended).toBe("interrupted")
  })
})

describe("bytes that are not a request", () => {
  it("after a request do not take the place of its answer", async () => {
    const slow = gated("POST")
    const service = await startService({ operations: [slow.operation] })
    const socket = connect(service.port, "127.0.0.1")
    const length = "Content-Type: application/json\r\nContent-Length: 2"
    socket.write(`POST /api/v2/gated HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${service.keys.member}\r\n${length}\r\n\r\n{}}and more`)
    const answer = answerOf(socket)
    await slow.entered
    slow.open()
    expect(await answer).toMatch(/^HTTP\/1\.1 200 OK[^]*"done"\}\n$/u)
    await service.stop()
  })

  it("in the middle of a request are answered at once", async () => {
    const slow = gated("POST")
    const service = await startService({ operations: [slow.operation] })
    const socket = connect(service.port, "127.0.0.1")
    const key = `X-API-KEY: ${service.keys.member}`
    socket.write(`POST /api/v2/gated HTTP/1.1\r\nHost: x\r\n${key}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`)
    expect(await answerOf(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request[^]*not valid HTTP/u)
    await service.stop()
  })
})

describe("a client that leaves", () => {
  const leave = async (operation: Operation, entered: Promise<void>, path: string) => {
    const service = await startService({ operations: [operation] })
    const leaving = new AbortController()
    const asked = fetch(`${service.url}/api/v2/${path}`, {
      method: "POST",
      headers: { "x-api-key": service.keys.member },
      signal: leaving.signal,
    })
    await entered
    leaving.abort()
    await expect(asked).rejects.toThrow("aborted")
    return service
  }

  it("ends a change that waits for its turn, but not one that was begun", async () => {
    const patient = waiting()
    const first = await leave(patient.operation, patient.entered, "waiting")
    expect(await patient.ended).toBe("cut short")
    await first.stop()
    const begun = gated("POST")
    const second = await leave(begun.operation, begun.entered, "gated")
    begun.open()
    expect(await begun.ended).toBe("finished")
    await second.stop()
  })
})
