import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { createServer, type AddressInfo, type Server } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import {
  connectWithin,
  interruptWithin,
  openToolHost,
  portsWithin,
  prepareRun,
  runCommand,
  systemPath,
  type ToolHost,
} from "../src/index.ts"

const host = await Effect.runPromise(openToolHost())
const obstacle = host.sandbox.works
  ? existsSync("/usr/sbin/ip") || existsSync("/usr/bin/ip")
    ? undefined
    : "ip is not installed"
  : host.sandbox.because
const note = obstacle === undefined ? "" : ` (skipped: ${obstacle})`

// on a Proxmox host, its API is at the port that leads to the hypervisor in here
const taken = [8006, 8124]
const among = { address: "192.0.2.254", networks: ["192.0.2.0/24"], ports: [22], named: { "the-api": 8006 }, taken }
const network = { text: "192.0.2.0/24", first: 0xc0_00_02_00, last: 0xc0_00_02_ff }

describe.skipIf(obstacle !== undefined)(`a tool that works with machines${note}`, { timeout: 60_000 }, () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "among-"))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  /** Runs a line of shell with its network; `dialled` is what it was connected to. */
  const running = (line: string, dialled: string[], lines: string[], on: ToolHost = host) =>
    Effect.gen(function* () {
      const greeter = createServer((socket) => socket.end("hello\n")).listen(0, "127.0.0.1")
      yield* Effect.promise(() => new Promise((resolve) => greeter.once("listening", resolve)))
      yield* Effect.addFinalizer(() => Effect.sync(() => greeter.close()))
      const { confine, limits } = yield* prepareRun(on, {
        folder,
        mounts: [],
        reach: { networks: [network], servers: [{ host: "the-api", port: 80, addresses: ["the-api"] }], internet: false },
        dial: (address, port) => {
          dialled.push(`${address}:${port}`)
          return host.dial("127.0.0.1", (greeter.address() as AddressInfo).port)
        },
        among,
      })
      const [program = "", ...args] = confine(["sh", "-c", line])
      const env = { PATH: systemPath, HOME: join(folder, "home") }
      return yield* runCommand({ program, args, env, folder, ...limits }, 1_000_000, (_, text) => lines.push(text))
    }).pipe(Effect.scoped)

  const read = (host: string, port: number): string =>
    `python3 -c 'import socket; s = socket.create_connection(("${host}", ${port}), 5); print(s.recv(100).decode().strip() or "closed")' 2>&1 | tail -1`

  it("reaches machines at their own addresses and the hosts that the relay knows, and nothing else", async () => {
    const dialled: string[] = []
    const lines: string[] = []
    const all = [
      read("192.0.2.57", 22),
      read("127.0.0.1", 8006),
      read("192.0.2.57", 23),
      read("198.51.100.1", 22),
      read("192.0.2.254", 22),
    ]
    await Effect.runPromise(running(all.join("; "), dialled, lines))
    expect(dialled.slice(0, 2)).toEqual(["192.0.2.57:22", "the-api:80"])
    expect(lines.slice(0, 2)).toEqual(["hello", "hello"])
    expect(lines[2]).toContain("refused")
    expect(lines[3]).toContain("unreachable")
  })

  it("has no rights in its network, and only its own address is visible", async () => {
    const lines: string[] = []
    const line = "ip -4 -o address show scope global; ip address add 203.0.113.1/32 dev lo 2>&1; grep CapEff /proc/self/status"
    await Effect.runPromise(running(line, [], lines))
    expect(lines[0]).toContain("192.0.2.254/32")
    expect(lines.slice(1)).toEqual(["RTNETLINK answers: Operation not permitted", "CapEff:\t0000000000000000"])
  })

  it("is reached at the ports that it listens on, and can be interrupted", async () => {
    const lines: string[] = []
    const serve = `exec python3 -c '
import socket, sys
s = socket.create_server(("0.0.0.0", 8123))
try:
    while True: s.accept()[0].sendall(b"answers")
except KeyboardInterrupt:
    sys.exit("interrupted")'`
    const fiber = Effect.runFork(running(serve, [], lines))
    while (!(await portsWithin(folder)).includes(8123)) await pause(20)
    expect(await portsWithin(folder)).toEqual([8123])
    const socket = await connectWithin(folder, 8123)
    const [first] = await new Promise<[Buffer]>((resolve) => socket.once("data", (chunk: Buffer) => resolve([chunk])))
    expect(first.toString()).toBe("answers")
    socket.destroy()
    expect(await interruptWithin(folder)).toBe(true)
    expect(await Effect.runPromise(Fiber.join(fiber))).toEqual({ type: "exited", code: 1 })
    expect(lines).toEqual(["interrupted"])
    expect([await portsWithin(folder), await interruptWithin(folder)]).toEqual([[], false])
  })

  it("gets no port that the host uses itself", async () => {
    const lines: string[] = []
    const listen = (port: number): string =>
      `python3 -c 'import socket; socket.create_server(("0.0.0.0", ${port})); print("listens")' 2>&1 | tail -1`
    await Effect.runPromise(running(`${listen(8123)}; ${listen(8124)}`, [], lines))
    expect(lines).toEqual(["listens", expect.stringContaining("Address already in use")])
  })

  it("runs with fewer of them where a process may open few files", async () => {
    const many = { ...among, taken: [8124, ...Array.from({ length: 900 }, (_, i) => 9000 + i)] }
    const few =
      "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300)); import os, sys; os.execvp(sys.argv[1], sys.argv[1:])"
    const lines: string[] = []
    const listen = (port: number): string =>
      `python3 -c 'import socket; socket.create_server(("0.0.0.0", ${port})); print("listens")' 2>&1 | tail -1`
    const work = Effect.gen(function* () {
      const { confine, limits } = yield* prepareRun(host, {
        folder,
        mounts: [],
        reach: { networks: [network], servers: [], internet: false },
        among: many,
      })
      const args = ["-c", few, ...confine(["sh", "-c", `${listen(8124)}; ${listen(9899)}`])]
      const env = { PATH: systemPath, HOME: join(folder, "home") }
      return yield* runCommand({ program: "python3", args, env, folder, ...limits }, 1_000_000, (_, text) => lines.push(text))
    }).pipe(Effect.scoped)
    await Effect.runPromise(work)
    expect(lines).toEqual([expect.stringContaining("Address already in use"), "listens"])
  })

  it("does not run without a sandbox", async () => {
    const bare: ToolHost = { ...host, sandbox: { works: false, because: "bwrap: it is not installed" } }
    await expect(Effect.runPromise(running("true", [], [], bare))).rejects.toThrow("it may only run in a sandbox, and bwrap")
  })
})

describe("what a hostile tool leaves in place of the gate's socket", () => {
  let folder: string
  let server: Server | undefined
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "inward-"))
  })
  afterEach(() => {
    server?.close()
    rmSync(folder, { recursive: true, force: true })
  })
  /** A socket that answers as told; the words that it heard. */
  const listen = async (path: string, answer: string | undefined): Promise<readonly string[]> => {
    const heard: string[] = []
    server = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on("error", () => socket.destroy())
      socket.setEncoding("utf8").on("data", (text: string) => heard.push(text))
      if (answer !== undefined) socket.end(answer)
    })
    await new Promise<void>((resolve) => server?.listen(path, resolve))
    return heard
  }

  it("keeps nobody waiting when it never answers", { timeout: 15_000 }, async () => {
    const heard = await listen(join(folder, "inward"), undefined)
    expect(await Promise.all([interruptWithin(folder), portsWithin(folder)])).toEqual([false, []])
    expect(heard.toSorted()).toEqual(["interrupt\n", "ports\n"])
  })

  it("leads to no other socket of this host", async () => {
    const heard = await listen(join(folder, "other"), "done")
    symlinkSync(join(folder, "other"), join(folder, "inward"))
    expect([await interruptWithin(folder), await portsWithin(folder)]).toEqual([false, []])
    await expect(connectWithin(folder, 8000)).rejects.toThrow("is not a socket")
    expect(heard).toEqual([])
  })
})
