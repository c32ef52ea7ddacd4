import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { interruptWithin, portsWithin } from "../src/index.ts"

describe("a gate whose tool ends, or is malicious", () => {
  let folder: string
  let gate: Server
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "inward-"))
    gate = createServer((socket) => socket.on("error", () => undefined).destroy())
    await new Promise<void>((resolve) => gate.listen(join(folder, "inward"), resolve))
  })
  afterEach(() => {
    gate.close()
    rmSync(folder, { recursive: true, force: true })
  })

  // an error event of a socket to which nobody listens would end the service
  it("answers nothing, and the service goes on, whenever it closes a connection", async () => {
    const asked = Array.from({ length: 500 }, () => portsWithin(folder))
    expect((await Promise.all(asked)).flat()).toEqual([])
    expect(await interruptWithin(folder)).toBe(false)
  })
})
