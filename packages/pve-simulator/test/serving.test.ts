import { execFile, spawn } from "node:child_process"
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { request as httpsRequest } from "node:https"
import { type AddressInfo, connect as connectTcp, createServer as createNetServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import ssh2 from "ssh2"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { createSimulator, type HttpListener, type Simulator } from "../src/index.ts"

const run = promisify(execFile)

let sim: Simulator
let http: HttpListener

beforeEach(async () => {
  sim = createSimulator({ speed: 2000, nodes: 2 })
  http = await sim.listen()
})
afterEach(async () => await sim.close())

/** An independent client: curl, told nothing but the address and the token. */
const curl = async (...args: string[]): Promise<unknown> => {
  const { stdout } = await run("curl", ["-sk", "-H", `Authorization: PVEAPIToken=${sim.rootToken}`, ...args])
  return JSON.parse(stdout) as unknown
}

const until = async <A>(look: () => Promise<A>, done: (value: A) => boolean): Promise<A> => {
  for (;;) {
    const value = await look()
    if (done(value)) return value
    await new Promise((resolve) => setImmediate(resolve))
  }
}

test("curl clones a machine, watches the task, starts it and reads its address", async () => {
  const api = `${http.url}/api2/json`
  const { data: upid } = (await curl(
    "-d",
    "newid=200",
    "-d",
    "name=first",
    "--data-urlencode",
    "description=ü & co",
    `${api}/nodes/pve1/qemu/101/clone`,
  )) as { data: string }
  const status = async () =>
    (
      (await curl(`${api}/nodes/pve1/tasks/${encodeURIComponent(upid)}/status`)) as {
        data: { status: string; exitstatus?: string }
      }
    ).data
  expect(await until(status, (task) => task.status === "stopped")).toMatchObject({ exitstatus: "OK" })
  await curl("-X", "POST", `${api}/nodes/pve1/qemu/200/status/start`)
  const interfaces = async () => JSON.stringify(await curl(`${api}/nodes/pve1/qemu/200/agent/network-get-interfaces`))
  expect(await until(interfaces, (text) => text.includes("192.0.2."))).toContain('"192.0.2.50"')
  expect(await curl(`${api}/nodes/pve1/qemu/200/config`)).toMatchObject({ data: { name: "first", description: "ü & co" } })
})

test("the status line has the first line of an error, and the certificate has the announced fingerprint", async () => {
  const { stdout } = await run("curl", [
    "-ski",
    "-H",
    `Authorization: PVEAPIToken=${sim.rootToken}`,
    `${http.url}/api2/json/nodes/pve1/qemu/999/config`,
  ])
  expect(stdout.split("\r\n")[0]).toBe("HTTP/1.1 500 Configuration file 'nodes/pve1/qemu-server/999.conf' does not exist")
  expect(stdout.toLowerCase()).toContain("\r\nconnection: close")
  const seen = await new Promise<string>((resolve, reject) => {
    const request = httpsRequest(`${http.url}/api2/json/version`, { rejectUnauthorized: false }, (response) => {
      resolve((response.socket as import("node:tls").TLSSocket).getPeerCertificate().fingerprint256)
      response.resume()
    })
    request.on("error", reject).end()
  })
  expect(seen).toBe(http.fingerprint)
  expect(await curl(`${http.url}/api2/json/nodes`)).toMatchObject({
    data: [{ ssl_fingerprint: seen }, { ssl_fingerprint: seen }],
  })
})

/** Sends bytes over a connection of its own and reads until the other side ends it. */
const raw = async (bytes: string): Promise<string> => {
  const { port, close } = await sim.listen({ tls: false })
  const socket = connectTcp(port)
  let read = ""
  socket.on("data", (part: Buffer) => (read += part.toString()))
  socket.on("error", () => socket.destroy())
  const closed = new Promise((resolve) => socket.on("close", resolve))
  socket.write(bytes)
  await closed
  await close()
  return read
}

test("bytes that are not a request get an answer that says what is wrong", async () => {
  const answered = async (bytes: string) => {
    const [head = "", body] = (await raw(bytes)).split("\r\n\r\n")
    expect(head.toLowerCase()).toContain("\r\nconnection: close")
    return [head.split("\r\n")[0], body]
  }
  expect(await answered("hello\r\n\r\n")).toEqual(["HTTP/1.1 400 bad request", "bad request"])
  expect(await answered("GET /\r\n\r\n")).toEqual(["HTTP/1.1 400 bad request", "bad request"])
  expect(await answered("GET / HTTP/2.0\r\n\r\n")).toEqual([
    "HTTP/1.1 506 http protocol version 2.0 not supported",
    "http protocol version 2.0 not supported",
  ])
  for (const method of ["FOO", "get", "PATCH", "CONNECT"])
    expect(await answered(`${method} /api2/json/version HTTP/1.1\r\nHost: x\r\n\r\n`)).toEqual([
      `HTTP/1.1 501 method '${method}' not available`,
      "",
    ])
  expect(await answered("GET / HTTP/1.1\r\nno colon\r\n\r\n")).toEqual([
    "HTTP/1.1 506 unable to parse request header",
    "unable to parse request header",
  ])
})

test("a request with too many or too large headers gets no answer, and its connection is closed", async () => {
  const get = (headers: string) => raw(`GET / HTTP/1.1\r\nConnection: close\r\n${headers}\r\n`)
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `x-${i}: y\r\n`).join("")
  expect(await get(lines(61))).toContain("HTTP/1.1 200 OK")
  expect(await get(lines(62))).toBe("")
  expect(await get(`x: ${"y".repeat(8000)}\r\n`)).toContain("HTTP/1.1 200 OK")
  expect(await get(`x: ${"y".repeat(8192)}\r\n`)).toBe("")
  expect(await get(`x: ${"y".repeat(70_000)}\r\n`)).toBe("")
  expect(await raw(`GET /?${"y".repeat(9000)} HTTP/1.0\r\n\r\n`)).toContain("HTTP/1.1 200 OK")
})

test("a connection ends with its hundredth request, or when the client says so", async () => {
  const one = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
  const heads = (await raw(one.repeat(105))).match(/connection: [a-z-]+/giu)
  expect(heads).toHaveLength(100)
  expect(heads?.slice(-2)).toEqual(["connection: Keep-Alive", "connection: close"])
  expect(await raw("GET / HTTP/1.0\r\n\r\n")).toContain("connection: close")
  // an upgrade that nobody offers is not asked for
  expect(await raw("GET / HTTP/1.1\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n")).toContain("HTTP/1.1 200 OK")
})

test("a dropped connection is dropped on the wire", async () => {
  sim.faults.add({ kind: "drop", match: { path: "/version" }, when: "after" })
  await expect(curl(`${http.url}/api2/json/version`)).rejects.toMatchObject({ code: 52 })
})

test("the control surface wants its token, and plans faults, counts calls, saves and restores", async () => {
  const control = async (path: string, ...args: string[]) => {
    const { stdout } = await run("curl", [
      "-sk",
      "-H",
      `Authorization: Bearer ${sim.controlToken}`,
      ...args,
      `${http.url}/simulator${path}`,
    ])
    return JSON.parse(stdout) as Record<string, unknown>
  }
  expect(await curl(`${http.url}/simulator/stats`)).toMatchObject({ error: expect.stringContaining("control token") as string })
  expect(await control("/snapshot", "-d", '{"name":"start"}')).toMatchObject({ data: { name: "start" } })
  expect(
    await control(
      "/faults",
      "-d",
      '{"kind":"respond","when":"before","status":500,"message":"planned","match":{"path":"/pools"}}',
    ),
  ).toEqual({ data: { id: 1 } })
  expect(await curl(`${http.url}/api2/json/pools`)).toMatchObject({ message: "planned\n" })
  expect(await control("/faults", "-d", '{"kind":"nonsense"}')).toMatchObject({
    error: expect.stringContaining("not a fault") as string,
  })
  expect(await control("/faults", "-d", "nonsense")).toMatchObject({ error: expect.stringContaining("malformed") as string })
  await curl("-d", "poolid=made", `${http.url}/api2/json/pools`)
  expect(await control("/stats")).toMatchObject({
    data: { guests: 5, calls: { byRoute: { "GET /pools": 1, "POST /pools": 1 } } },
  })
  expect(sim.state.pools.has("made")).toBe(true)
  await control("/restore", "-d", '{"name":"start"}')
  expect(sim.state.pools.has("made")).toBe(false)
  expect(await control("/clock", "-d", '{"ms":1000}')).toMatchObject({ error: expect.stringContaining("manual clock") as string })
  expect(await control("/nowhere")).toMatchObject({ error: expect.stringContaining("/simulator/nowhere") as string })
})

interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const connect = async (port: number, auth: { password?: string; privateKey?: string }): Promise<ssh2.Client> =>
  await new Promise((resolve, reject) => {
    const client = new ssh2.Client()
    client.on("error", reject)
    client.once("ready", () => resolve(client))
    client.connect({ host: "127.0.0.1", port, username: "root", ...auth })
  })

const command = async (client: ssh2.Client, line: string, input?: string): Promise<Ran> =>
  await new Promise((resolve, reject) => {
    client.exec(line, (error, channel) => {
      if (error !== undefined) return reject(error)
      let stdout = ""
      let stderr = ""
      channel.on("data", (data: Buffer) => (stdout += data.toString()))
      channel.stderr.on("data", (data: Buffer) => (stderr += data.toString()))
      channel.on("close", (code: number) => resolve({ code, stdout, stderr }))
      if (input !== undefined) channel.end(input)
    })
  })

test("a node's shell runs the API and a few tools as root, by password or key, and nothing else", async () => {
  const pair = ssh2.utils.generateKeyPairSync("ecdsa", { bits: 256 })
  const shell = await sim.ssh({ node: "pve2", authorizedKeys: [pair.public] })
  await expect(connect(shell.port, { password: "wrong" })).rejects.toThrow()
  for (const auth of [{ password: sim.rootPassword }, { privateKey: pair.private }]) {
    const client = await connect(shell.port, auth)
    expect(await command(client, "hostname")).toEqual({ code: 0, stdout: "pve2\n", stderr: "" })
    client.end()
  }
  const client = await connect(shell.port, { password: sim.rootPassword })
  expect(JSON.parse((await command(client, "pvesh get /nodes/pve1/qemu/100/config --output-format json")).stdout)).toMatchObject({
    template: 1,
  })
  expect(await command(client, "pvesh create /pools --poolid 'from shell'")).toMatchObject({
    code: 255,
    stderr: expect.stringContaining("poolid: invalid format") as string,
  })
  expect(await command(client, "pvesh create /pools --poolid shell --comment 'two words'")).toMatchObject({ code: 0 })
  expect(sim.state.pools.get("shell")?.comment).toBe("two words")
  expect(await command(client, "dd of=/etc/network/interfaces.d/own status=none", "iface own\n")).toMatchObject({ code: 0 })
  expect(await command(client, "cat /etc/network/interfaces.d/own")).toMatchObject({ stdout: "iface own\n" })
  // args is for root@pam itself, which is who this shell is
  expect(await command(client, 'pvesh set /nodes/pve1/qemu/100/config --args "-device x"')).toMatchObject({ code: 0 })
  sim.guest(100)!.config["lock"] = "backup"
  expect((await command(client, "qm unlock 100")).code).toBe(0)
  expect(sim.guest(100)?.config["lock"]).toBeUndefined()
  expect((await command(client, "pveversion")).stdout).toMatch(/^pve-manager\/9\./)
  expect((await command(client, "ip route")).stdout).toContain("192.0.2.0/24 dev vmbr1000")
  expect((await command(client, "cat /etc/pve/nodes/pve1/qemu-server/100.conf")).stdout).toContain("template: 1\n")
  expect(await command(client, "rm -rf /")).toMatchObject({
    code: 127,
    stderr: expect.stringContaining("rm: command not found") as string,
  })
  expect((await command(client, "echo a; hostname")).code).toBe(127)
  client.end()
})

/** A client's frame with this text; a mask of nothing leaves it readable. */
const maskedFrame = (said: string): Buffer =>
  Buffer.concat([Buffer.from([0x82, 0xfe, said.length >> 8, said.length & 0xff, 0, 0, 0, 0]), Buffer.from(said)])

describe("a console", () => {
  let api: string
  beforeEach(async () => {
    // its patience is real time, however fast the rest goes
    await sim.close()
    sim = createSimulator({ speed: 2000, nodes: 2 })
    http = await sim.listen()
    api = `${http.url}/api2/json/nodes/pve1/qemu/100`
    sim.guest(100)!.status = "running"
  })
  const proxy = async (type: string) =>
    (
      (await curl("-d", type === "vncproxy" ? "websocket=1" : "", `${api}/${type}`)) as {
        readonly data: { readonly port: string; readonly ticket: string; readonly user: string }
      }
    ).data
  /** The answer's status where it is refused, else what the server accepts and says until it falls silent or closes. */
  const open = async (port: string, ticket: string, said: readonly string[] = []) =>
    await new Promise<string>((resolve, reject) => {
      const url = `${api}/vncwebsocket?port=${port}&vncticket=${encodeURIComponent(ticket)}`
      const request = httpsRequest(url, {
        rejectUnauthorized: false,
        headers: {
          authorization: `PVEAPIToken=${sim.rootToken}`,
          connection: "Upgrade",
          upgrade: "websocket",
          "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
          "sec-websocket-version": "13",
          "sec-websocket-protocol": "binary",
        },
      })
      request.on("upgrade", (response, socket, head) => {
        const accept = String(response.headers["sec-websocket-accept"])
        const finish = (bytes: Buffer) => {
          socket.destroy()
          resolve(`${accept} ${bytes.subarray(2).toString()}`)
        }
        if (head.length > 0) finish(head)
        else socket.once("data", finish).once("end", () => resolve(`${accept} closed`))
        for (const text of said) socket.write(maskedFrame(text))
      })
      request.on("response", (response) => {
        response.resume()
        resolve(String(response.statusCode))
      })
      request.on("error", reject).end()
    })
  const accepted = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="

  test("opens its socket once the API has checked its ticket, and no other", async () => {
    const { port, ticket } = await proxy("vncproxy")
    expect(await open(port, "PVEVNC:00000000::forged")).toBe("401")
    expect(await open(port, ticket)).toBe(`${accepted} RFB 003.008\n`)
  })

  test("with a terminal waits for its user and ticket, and ends for any other", async () => {
    const { port, ticket, user } = await proxy("termproxy")
    const login = `${user}:${ticket}\n`
    expect(await open(port, ticket, [login.slice(0, 10), login.slice(10)])).toBe(`${accepted} OK`)
    const other = await proxy("termproxy")
    expect(await open(other.port, other.ticket, [login])).toBe(`${accepted} closed`)
  })

  test("of a node's shell waits for its user and ticket too", async () => {
    api = `${http.url}/api2/json/nodes/pve2`
    const { port, ticket, user } = await proxy("termproxy")
    expect(await open(port, ticket, [`${user}:${ticket}\n`])).toBe(`${accepted} OK`)
  })

  test("of a machine that is off opens, and closes without data", async () => {
    sim.guest(100)!.status = "stopped"
    const { port, ticket } = await proxy("vncproxy")
    expect(await open(port, ticket)).toBe(`${accepted} closed`)
  })
})

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

test(
  "the stand-alone program prints how to reach it, keeps its state across a restart, and ends on SIGTERM",
  { timeout: 60_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "simulator-"))
    try {
      const session = async (work: (url: string, token: string) => Promise<void>): Promise<number | null> => {
        const child = spawn(
          process.execPath,
          [main, "--port", "0", "--no-tls", "--speed", "2000", "--state", join(folder, "state.json")],
          { stdio: ["ignore", "pipe", "inherit"] },
        )
        const ended = new Promise<number | null>((resolve) => void child.once("exit", resolve))
        let said = ""
        await new Promise<void>((resolve) => {
          child.stdout.on("data", (data: Buffer) => {
            said += data.toString()
            if (said.includes("/simulator/stats")) resolve()
          })
        })
        await work(/url +(\S+)/.exec(said)![1]!, /root token +(\S+)/.exec(said)![1]!)
        child.kill("SIGTERM")
        return await ended
      }
      const call = async (url: string, token: string, ...args: string[]) =>
        (await run("curl", ["-s", "-H", `Authorization: PVEAPIToken=${token}`, ...args.map((arg) => arg.replace("URL", url))]))
          .stdout
      expect(await session(async (url, token) => void (await call(url, token, "-d", "poolid=kept", "URL/api2/json/pools")))).toBe(
        0,
      )
      expect(
        await session(async (url, token) => expect(await call(url, token, "URL/api2/json/pools")).toContain('"poolid":"kept"')),
      ).toBe(0)
      writeFileSync(join(folder, "broken.json"), "{")
      const broken = await run(process.execPath, [main, "--state", join(folder, "broken.json")]).catch((error: unknown) => error)
      expect(broken).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^simulator: cannot use the state file .*\n$/) as string,
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)

test.each([
  [["--port", "http"], "--port must be a whole number"],
  [["--nodes", "0"], "--nodes must be"],
  [["--speed", "-1"], "--speed"],
  [["--colour"], "Unknown option"],
  [["clone"], "Unexpected argument"],
  [["--real-hosts", "--state", "lab.json"], "do not go together"],
])("a command line of %j ends in one line and exit code 2", { timeout: 60_000 }, async (args, text) => {
  const error = (await run(process.execPath, [main, ...args]).catch((caught: unknown) => caught)) as {
    code: number
    stderr: string
  }
  expect(error.code).toBe(2)
  expect(error.stderr.trim().split("\n")).toHaveLength(1)
  expect(error.stderr).toContain(text)
})

test.each([[], ["--no-tls"]])(
  "a state that cannot be written is refused at the start (%j)",
  { timeout: 60_000 },
  async (...more) => {
    const refused = await run(process.execPath, [main, "--port", "0", "--state", "/nowhere/lab.json", ...more]).catch(
      (caught: unknown) => caught,
    )
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^simulator: cannot write the state file \/nowhere\/lab\.json: .+\n$/u) as string,
    })
  },
)

test("a port that another program has ends it with one line that names the option", { timeout: 60_000 }, async () => {
  const other = createNetServer()
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
  const { port } = other.address() as AddressInfo
  const refused = await run(process.execPath, [main, "--port", String(port)]).catch((caught: unknown) => caught)
  other.close()
  expect(refused).toMatchObject({
    code: 1,
    stderr: `simulator: cannot listen on port ${port}: another program listens there; stop it, or choose another port (--port)\n`,
  })
})

test("real hosts are refused in one line if the machine cannot run them", { timeout: 60_000 }, async () => {
  // root without what makes namespaces; others have no more
  const bare = process.getuid?.() === 0 ? ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"] : []
  const [program, ...args] = [...bare, process.execPath, main, "--real-hosts"]
  const refused = await run(program ?? "", args).catch((caught: unknown) => caught)
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^simulator: real hosts cannot be made here: .+\n$/u) as string,
  })
})

test("a stored certificate is the same after a restart, and readable by its owner only", async () => {
  const folder = mkdtempSync(join(tmpdir(), "simulator-"))
  const certificateFile = join(folder, "state.json.pem")
  const fingerprints: (string | undefined)[] = []
  for (let start = 0; start < 2; start++) {
    const simulator = createSimulator()
    fingerprints.push((await simulator.listen({ certificateFile })).fingerprint)
    await simulator.close()
  }
  expect(fingerprints[0]).toMatch(/^[0-9A-F:]{95}$/u)
  expect(fingerprints[1]).toBe(fingerprints[0])
  expect(statSync(certificateFile).mode & 0o777).toBe(0o600)
  rmSync(folder, { recursive: true })
})
