import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { openPorts } from "../../src/playbook/lent-ports.ts"
import { openRelay } from "../../src/playbook/relay.ts"
import { obstacle, patience, skipNote } from "./support/obstacle.ts"

const [own, others] = ["10.7.10.30", "10.8.10.30"]

/** A way that tells where it leads, and gives back whatever is said there. */
const tellingWay = (folder: string) => ({
  command: (destination: string) => ({
    program: "sh",
    args: ["-c", `echo ${destination}; exec cat`],
    env: { PATH: "/usr/bin:/bin" },
    folder,
  }),
  ended: Effect.never,
})

/** Everything that is answered until the other end closes. */
const say = (port: number, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = ""
    const client = connect(port, "127.0.0.1")
    client.on("data", (bytes) => (answer += bytes.toString("utf8")))
    client.once("error", reject)
    client.once("close", () => resolve(answer))
    client.end(text)
  })

const withPorts = async (addresses: readonly string[], use: (ports: ReadonlyMap<string, number>) => Promise<void>) => {
  const folder = await mkdtemp(join(tmpdir(), "rw-ports-"))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const work = Effect.gen(function* () {
    yield* openRelay(tellingWay(folder), 7, folder)
    const ports = yield* openPorts([], folder, addresses)
    yield* Effect.promise(() => use(ports))
    return ports
  })
  return Effect.runPromise(Effect.scoped(work))
}

/** They need what real hosts need: Python, and root for somebody else's account. */
describe.skipIf(obstacle !== undefined)(`lent ports of loopback${skipNote(obstacle)}`, { timeout: patience }, () => {
  it("lead to the WinRM of one machine each, as long as the run lasts", async () => {
    const text = "x".repeat(300_000)
    const ports = await withPorts([own, "10.7.10.31"], async (lent) => {
      expect([...lent.keys()]).toEqual([own, "10.7.10.31"])
      expect(await say(lent.get(own) ?? 0, text)).toBe(`${own}:5986\n${text}`)
      expect(await say(lent.get("10.7.10.31") ?? 0, "y")).toBe("10.7.10.31:5986\ny")
    })
    for (const port of ports.values()) await expect(say(port, "")).rejects.toThrow("ECONNREFUSED")
  })

  it("lead to no machine of another range", async () => {
    await withPorts([own, others], async (lent) => {
      const heard = ([, port]: readonly [string, number]) => say(port, "x").catch(() => "")
      expect(await Promise.all([...lent].map(heard))).toEqual([`${own}:5986\nx`, ""])
    })
  })

  it("let nobody in but the service's own account", async () => {
    const speak = `import socket, sys
end = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
print(end.recv(100).decode())`
    const as = (user: number, port: number) =>
      new Promise<string>((resolve, reject) => {
        const args = ["--reuid", String(user), "--clear-groups", "/usr/bin/python3", "-c", speak, String(port)]
        execFile("setpriv", args, { timeout: 60_000 }, (error, stdout) =>
          error === null ? resolve(stdout.trim()) : reject(error),
        )
      })
    await withPorts([own], async (lent) => {
      const port = lent.get(own) ?? 0
      expect(await as(0, port)).toBe(`${own}:5986`)
      expect(await as(65_534, port)).toBe("")
    })
  })

  it("are opened for no run that needs none, and one that cannot be opened is told", async () => {
    expect((await withPorts([], async () => {})).size).toBe(0)
    const folder = await mkdtemp(join(tmpdir(), "rw-ports-"))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const failed = Effect.scoped(Effect.flip(openPorts(["no-such-launcher"], folder, [own])))
    expect((await Effect.runPromise(failed)).message).toContain(
      "no port of loopback can be lent: there is no program no-such-launcher",
    )
  })
})
