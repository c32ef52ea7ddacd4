import { once } from "node:events"
import { connect } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import { samples } from "./sample-operations.ts"
import { startService, type Service } from "./support.ts"

let service: Service
afterEach(() => service.stop())

const open = (end: string, headers: Record<string, string> = {}, method = "GET") =>
  fetch(`${service.url}/api/v2/events/${end}`, { method, headers: { "x-api-key": service.keys.member, ...headers } })

/** Reads a response on until what came since the last call contains the fragment, or until the end. */
const readerOf = (response: Response) => {
  const chunks = (response.body as ReadableStream<Uint8Array>)[Symbol.asyncIterator]()
  return async (fragment: string): Promise<string> => {
    let text = ""
    while (!text.includes(fragment)) {
      const { done, value } = await chunks.next()
      if (done === true) break
      text += Buffer.from(value as Uint8Array).toString()
    }
    return text
  }
}

const event = (n: number) => `id: ${n}\nevent: step\ndata: {"n":${n}}\n\n`

describe("event streams", () => {
  it("tell how to come back, then every event, then end", async () => {
    service = await startService({ operations: samples })
    const response = await open("ends")
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
    expect(response.headers.get("cache-control")).toBe("no-store, no-transform")
    expect(response.headers.get("access-control-allow-origin")).toBe("*")
    expect(await response.text()).toBe(`retry: 2000\n\n${event(1)}${event(2)}${event(3)}: end\n\n`)
  })

  it("continue after the last event that the client has seen", async () => {
    service = await startService({ operations: samples })
    expect(await (await open("ends", { "last-event-id": "2" })).text()).toBe(`retry: 2000\n\n${event(3)}: end\n\n`)
  })

  it("end with a problem when they fail midway", async () => {
    service = await startService({ operations: samples })
    const text = await (await open("fails")).text()
    expect(text).toContain(event(3))
    expect(text).toMatch(/event: failure\ndata: \{"error":"Cannot go on: it is over".+\}\n\n: end\n\n$/u)
    expect(service.defects).toEqual([])
  })

  it("answer refusals as any operation does, and HEAD without opening", async () => {
    service = await startService({ operations: samples })
    expect((await open("never")).status).toBe(400)
    expect((await open("ends", { "x-api-key": "ME.wrong" })).status).toBe(401)
    const head = await open("waits", {}, "HEAD")
    expect([head.status, await head.text()]).toEqual([200, ""])
  })

  it("are kept open by comments while nothing happens, and end with a comment when the service stops", async () => {
    service = await startService({ operations: samples, http: { eventStreams: { heartbeat: 5, patience: 1000 } } })
    const readUntil = readerOf(await open("waits"))
    expect(await readUntil(": still here")).toContain(event(3))
    const rest = readUntil("the end of the stream")
    await service.stop()
    expect(await rest).toContain(": the service is stopping")
  })

  it("drop only the reader that does not read", async () => {
    service = await startService({ operations: samples, http: { eventStreams: { heartbeat: 15_000, patience: 50 } } })
    const other = await open("waits")
    const lazy = connect(service.port, "127.0.0.1")
    lazy.write(`GET /api/v2/events/floods HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${service.keys.member}\r\n\r\n`)
    await once(lazy, "readable")
    lazy.pause()
    await expect.poll(() => service.answered.some((request) => request.path.endsWith("floods"))).toBe(true)
    lazy.destroy()
    expect(await readerOf(other)(event(3))).toContain(event(3))
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200)
    expect(service.defects).toEqual([])
  })
})
