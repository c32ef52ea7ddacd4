import { operation } from "@rangewright/application"
import * as Effect from "effect/Effect"
import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { afterEach, expect, it } from "vitest"
import { startService, type Service } from "./support.ts"

/** More than the system takes for a reader that reads nothing. */
const bytes = 32 * 1024 * 1024

const large = operation({
  id: "large",
  route: "GET /large",
  group: "Host",
  does: "answer much",
  summary: "Answer much",
  access: "user",
  target: "none",
  output: { type: "text", contentType: "text/plain" },
  statuses: { 200: "much", 400: "bad", 401: "nobody" },
  handle: () => Effect.succeed("x".repeat(bytes)),
})

let service: Service
let readers: Socket[] = []
afterEach(() => {
  for (const reader of readers) reader.destroy()
  readers = []
})

/** Asks, and reads nothing of the answer. */
const ask = async (): Promise<Socket> => {
  const reader = connect(service.port, "127.0.0.1").pause()
  readers.push(reader)
  reader.on("error", () => undefined)
  await once(reader, "connect")
  const before = service.answered.length
  reader.write(`GET /api/v2/large HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${service.keys.member}\r\n\r\n`)
  await expect.poll(() => service.answered.length).toBe(before + 1)
  return reader
}

/** Bytes of the answer that come, now that it is read. */
const read = async (reader: Socket): Promise<number> => {
  let received = 0
  reader.on("data", (chunk: Buffer) => {
    received += chunk.length
    if (received > bytes) reader.destroy()
  })
  reader.resume()
  await once(reader, "close")
  return received
}

it("a reader that takes nothing of a large answer loses its connection", { timeout: 10_000 }, async () => {
  service = await startService({ operations: [large], http: { eventStreams: { heartbeat: 15_000, patience: 50 } } })
  const accepted = new Promise<Socket>((resolve) => {
    const tell = (message: unknown) => {
      unsubscribe("net.server.socket", tell)
      resolve((message as { readonly socket: Socket }).socket)
    }
    subscribe("net.server.socket", tell)
  })
  await ask()
  const connection = await accepted
  if (!connection.destroyed) await once(connection, "close")
  await service.stop()
})

it("a slow reader that goes on reading gets everything", async () => {
  service = await startService({ operations: [large], http: { eventStreams: { heartbeat: 15_000, patience: 1_000 } } })
  const reader = await ask()
  expect(await read(reader)).toBeGreaterThan(bytes)
  await service.stop()
})

it("of many readers that leave too much, those that have been reading for longest lose their connections", async () => {
  service = await startService({ operations: [large], http: { unsentBytes: 2 * bytes } })
  const [first, second, third] = [await ask(), await ask(), await ask()]
  expect(await read(first)).toBeLessThan(bytes)
  expect(await read(second)).toBeGreaterThan(bytes)
  expect(await read(third)).toBeGreaterThan(bytes)
  await service.stop()
})
