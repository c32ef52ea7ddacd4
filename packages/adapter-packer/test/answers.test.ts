import { parseCidr } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, createServer, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { serveAnswers } from "../src/answers.ts"

const only = (text: string) => [parseCidr(text)].filter((network) => network !== undefined)

describe("what Packer serves for machines", () => {
  let folder: string
  let gate: Server
  const asked: string[] = []
  const said: string[] = []
  const ports = ["8731", "22", "8099", "7999", "9001", "12000", "12001", "12002"]

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "answers-"))
    asked.length = said.length = 0
    gate = createServer((socket) => {
      socket.on("error", () => socket.destroy())
      socket.once("data", (chunk) => {
        const [words = ""] = chunk.toString().split("\n")
        if (words !== "ports") asked.push(words)
        socket.end(words === "ports" ? ports.join(" ") : "answers")
      })
    })
    await new Promise<void>((resolve) => gate.listen(join(folder, "inward"), resolve))
  })
  afterEach(() => {
    gate.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** What comes from this port of the host; a code where nothing does. */
  const read = (port: number) =>
    new Promise<string>((resolve) => {
      let text = ""
      const socket = connect({ host: "127.0.0.1", port }, () => socket.write("GET / HTTP/1.0\r\n\r\n"))
      socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
      socket.once("error", (error) => resolve("code" in error ? String(error.code) : String(error)))
      socket.once("close", () => resolve(text))
    })
  const serving = <A>(networks: string, use: () => Promise<A>): Promise<A> =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const options = { folder, address: "127.0.0.1", networks: only(networks), onFetched: () => undefined }
          yield* serveAnswers({ ...options, say: (line) => said.push(line) })
          return yield* Effect.promise(use)
        }),
      ),
    )

  it("is passed on at ports 8000 to 9000 alone, and of some others it is said that they are not", async () => {
    await serving("127.0.0.1", async () => {
      await vi.waitFor(async () => expect([await read(8731), await read(8099)]).toEqual(["answers", "answers"]))
      expect([await read(7999), await read(9001), await read(12_000)]).toEqual(Array(3).fill("ECONNREFUSED"))
    })
    expect(new Set(asked)).toEqual(new Set(["connect 8731", "connect 8099"]))
    expect(said).toHaveLength(4)
    expect(said[0]).toBe("machines cannot reach port 22 here: answers are only served from ports 8000 to 9000")
  })

  it("is passed on as soon as another program leaves its port, and until then that is said once", async () => {
    const other = createServer((socket) => socket.end("other")).listen(8731, "127.0.0.1")
    await serving("127.0.0.1", async () => {
      await vi.waitFor(() => expect(said.filter((line) => line.includes("8731"))).toHaveLength(1))
      expect(await read(8731)).toBe("other")
      other.close()
      await vi.waitFor(async () => expect(await read(8731)).toBe("answers"))
    })
    expect(said.filter((line) => line.includes("8731"))).toHaveLength(1)
  })

  it("is passed on to the machines of builds alone", async () => {
    await serving("192.0.2.64/27", () => vi.waitFor(async () => expect(await read(8731)).not.toBe("ECONNREFUSED")))
    expect(asked).toEqual([])
  })
})
