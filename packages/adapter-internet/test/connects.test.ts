import * as Effect from "effect/Effect"
import { createServer, type Server } from "node:net"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { connects } from "../src/connects.ts"

describe("a host of the operator's", () => {
  let server: Server
  let port: number
  beforeEach(async () => {
    server = createServer((socket) => socket.on("error", () => undefined))
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    port = typeof address === "object" && address !== null ? address.port : 0
  })
  afterEach(() => void server.close())

  it("can be connected to where something listens, and is sent nothing", async () => {
    const got = new Promise<string>((resolve) =>
      server.once("connection", (socket) => {
        let text = ""
        socket.on("data", (bytes) => (text += bytes.toString()))
        socket.on("close", () => resolve(text))
      }),
    )
    expect(await Effect.runPromise(connects("127.0.0.1", port))).toBeUndefined()
    expect(await got).toBe("")
  })

  it("is told with the reason where nothing does", async () => {
    await new Promise((resolve) => server.close(resolve))
    expect(await Effect.runPromise(connects("127.0.0.1", port))).toContain("ECONNREFUSED")
    expect(await Effect.runPromise(connects("no-such-host.invalid", 1688))).toMatch(/ENOTFOUND|EAI_AGAIN/u)
  })
})
