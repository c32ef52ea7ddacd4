import * as Redacted from "effect/Redacted"
import { Agent, createServer, request, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { type ApiCall, openDoor } from "../src/door.ts"
import { openNumbers } from "../src/next-numbers.ts"

let api: Server
let seen: { method: string; url: string; headers: Record<string, unknown>; body: string }[]
let calls: ApiCall[]
let refused: string[]
let connections: number
/** What the hypervisor sends instead of an answer. */
let raw: string | undefined
/** What it answers to calls whose method and path are these. */
let answers: Record<string, { readonly status?: number; readonly data?: unknown }>
let agent: Agent
let door: ReturnType<typeof openDoor>

const numbers = openNumbers()
const open = (nodeDownloads: boolean, pool = "rw-build-1") =>
  openDoor({
    hypervisor: { url: `http://127.0.0.1:${(api.address() as AddressInfo).port}`, agent },
    account: {
      username: "build-1@pve",
      tokenId: "build-1@pve!build",
      tokenSecret: Redacted.make("the-secret"),
      pool,
    },
    numbers,
    caps: { vms: 2, cores: 8, memoryMiB: 16 * 1024, diskBytes: 100 * 1024 ** 3 },
    nodeDownloads,
    refuses: (url) => Promise.resolve(url.includes("127.0.0.1") ? "it is not public" : undefined),
    onCall: (call) => calls.push(call),
    onRefused: (because) => refused.push(because),
  })

beforeEach(async () => {
  seen = []
  calls = []
  refused = []
  connections = 0
  raw = undefined
  answers = {}
  api = createServer((asked, response) => {
    let body = ""
    asked.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
    asked.on("end", () => {
      if (asked.url === "/api2/json/cluster/nextid?vmid=100") response.statusCode = 400
      seen.push({ method: asked.method ?? "", url: asked.url ?? "", headers: asked.headers, body })
      if (raw !== undefined) return void asked.socket.end(raw, "latin1")
      const { status, data = "answered" } = answers[`${asked.method} ${asked.url?.replace("/api2/json", "")}`] ?? {}
      if (status !== undefined) response.statusCode = status
      // as the hypervisor does, whatever it was asked
      response.setHeader("connection", "keep-alive").end(JSON.stringify({ data }))
    })
  }).listen(0, "127.0.0.1")
  api.on("connection", () => (connections += 1))
  await new Promise((resolve) => api.once("listening", resolve))
  agent = new Agent({ keepAlive: true })
  door = open(false)
})
afterEach(() => {
  door.close()
  agent.destroy()
  api.closeAllConnections()
  api.close()
})

const ask = (method: string, path: string, body = "", headers: Record<string, string> = {}, through = door) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    void through.dial("hypervisor", 80).then((socket) => {
      const one = new Agent()
      one.createConnection = () => socket
      const outgoing = request({ agent: one, method, path, headers }, (response) => {
        let text = ""
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }))
      })
      outgoing.once("error", reject)
      outgoing.end(body)
    })
  })

const form = { "content-type": "application/x-www-form-urlencoded" }

it("calls are made in the name of the build's account, whatever came with them", async () => {
  const own = { authorization: "PVEAPIToken=root@pam!x=y", cookie: "PVEAuthCookie=z", csrfpreventiontoken: "t" }
  expect(await ask("GET", "/api2/json/version", "", own)).toEqual({ status: 200, body: '{"data":"answered"}' })
  expect(seen[0]?.headers).toMatchObject({ authorization: "PVEAPIToken=build-1@pve!build=the-secret" })
  expect(seen[0]?.headers).not.toHaveProperty("cookie")
  expect(calls).toEqual([{ method: "GET", path: "/version", status: 200, body: '{"data":"answered"}' }])
})

it("a login leads to a ticket that opens nothing elsewhere, and never reaches the hypervisor", async () => {
  const { status, body } = await ask("POST", "/api2/json/access/ticket", "username=a&password=b", form)
  expect([status, JSON.parse(body)]).toMatchObject([200, { data: { username: "build-1@pve" } }])
  expect(body).not.toContain("the-secret")
  expect(seen).toEqual([])
})

it("a VM stays in the pool of its build", async () => {
  expect((await ask("PUT", "/api2/json/pools/rw-build-1", "delete=1&vms=120", form)).status).toBe(200)
  expect(seen).toEqual([])
})

/** What is sent as it stands, and all that comes back. */
const askRaw = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    void door.dial("hypervisor", 80).then((socket) => {
      let answer = ""
      socket.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk))
      socket.once("error", reject)
      socket.once("end", () => resolve(answer))
      socket.write(text)
    })
  })

it.each(["GET", "DELETE", "HEAD", "OPTIONS"])("a body of %s is no call of another build", async (method) => {
  const inner = "GET /api2/json/access/users HTTP/1.1\r\nHost: x\r\n\r\n"
  const path = method === "DELETE" ? "/api2/json/nodes/pve/qemu/100" : "/api2/json/version"
  const size = Buffer.byteLength(inner)
  const framings = [
    `Content-Length: ${size}\r\n\r\n${inner}`,
    `Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
  ]
  for (const framing of framings)
    expect(await askRaw(`${method} ${path} HTTP/1.1\r\nHost: hypervisor\r\n${framing}`)).toMatch(/^HTTP\/1\.1 4\d\d /u)
  expect(seen).toEqual([])
})

it("a call that does not say how long it is is refused", async () => {
  const chunked = { ...form, "transfer-encoding": "chunked" }
  expect((await ask("PUT", "/api2/json/nodes/pve/qemu/100/config", "memory=512", chunked)).status).toBe(411)
  expect(seen).toEqual([])
})

it("each call has a connection of its own to the hypervisor", async () => {
  for (const vmid of [100, 101, 102]) await ask("GET", `/api2/json/nodes/pve/qemu/${vmid}/config`)
  await Promise.all([100, 101].map((vmid) => ask("PUT", `/api2/json/nodes/pve/qemu/${vmid}/config`, "memory=512", form)))
  expect([seen.length, connections]).toEqual([5, 5])
})

it.each([
  ["an upgrade that nobody asked for", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"],
  ["a reason of control characters", "HTTP/1.1 200 \x01\x7f\r\nContent-Length: 0\r\n\r\n"],
  ["a header of control characters", "HTTP/1.1 200 OK\r\nX-Is: \x01\r\nContent-Length: 0\r\n\r\n"],
  ["a status that is none", "HTTP/1.1 000 OK\r\nContent-Length: 0\r\n\r\n"],
  ["what is not HTTP", "SSH-2.0-OpenSSH\r\n"],
  ["nothing", ""],
])("where the hypervisor answers %s, the call fails and the service goes on", async (_, sent) => {
  raw = sent
  expect((await ask("GET", "/api2/json/version")).status).toBe(595)
  expect(
    (await ask("POST", "/api2/json/nodes/pve/storage/local-lvm/content", "vmid=120&filename=vm-120-disk-0&size=8G", form)).status,
  ).toBeGreaterThanOrEqual(400)
})

it("the node downloads nothing for builds, and the log says what to do about it", async () => {
  const at = "/api2/json/nodes/pve/storage/local/download-url"
  const { status, body } = await ask("POST", at, "content=iso&url=https://images.example/x", form)
  expect([status, body]).toEqual([403, expect.stringContaining("template_node_downloads")])
  expect(refused).toEqual([expect.stringContaining("iso_download_pve")])
  expect(seen).toEqual([])
})

it("where the node may download for builds, it downloads what is public", async () => {
  door.close()
  door = open(true)
  const at = "/api2/json/nodes/pve/storage/local/download-url"
  const refusals = [
    await ask("POST", at, "content=iso&url=http%3A%2F%2F127.0.0.1%2Fx", form),
    await ask("POST", at, JSON.stringify({ url: "http://127.0.0.1/x" }), { "content-type": "application/json" }),
    await ask("POST", `${at}?url=http://127.0.0.1/x`, "url=https://images.example/x", form),
    await ask("POST", `${at}#x`, "url=http://127.0.0.1/x", form),
    await ask("POST", at, "url=https://images.example/x&url=http://127.0.0.1/x", form),
    await ask("POST", at, "url=http://127.0.0.1/x", { "content-type": `${form["content-type"]}; x=json` }),
  ]
  expect(refusals.map(({ status }) => status)).toEqual([403, 403, 400, 400, 400, 415])
  expect(refusals[0]?.body).toContain("the node may not fetch http://127.0.0.1/x: it is not public")
  expect(seen).toEqual([])
  expect((await ask("POST", at, "url=https://images.example/x;url=http://[::1]/", form)).status).toBe(200)
  expect([...new URLSearchParams(seen[0]?.body)]).toEqual([["url", "https://images.example/x;url=http://[::1]/"]])
  expect(seen[0]?.body).not.toContain(";")
})

it.each([
  ["POST", "/api2/json/nodes/pve/qemu/120/monitor"],
  ["POST", "/api2/json/nodes/pve/qemu/120//monitor/"],
  ["POST", "/api2/json/nodes/pve/qemu/120/%6donitor"],
  ["POST", "/api2/json/nodes/pve/qemu/120/%"],
  ["POST", "/api2/json/nodes/pve/qemu/120/monitor#/config"],
  ["POST", "/api2/json/nodes/pve/qemu/120/config/../monitor"],
  ["POST", "/api2/json/nodes/pve/qemu/120/agent/exec"],
  ["POST", "/api2/json/nodes/pve/qemu/120%2fconfig"],
  ["POST", "/api2/json/nodes/pve/qemu/120/vncproxy"],
  ["POST", "/api2/json/nodes/pve/lxc"],
  ["GET", "/api2/json/nodes/pve/query-url-metadata?url=http://127.0.0.1/"],
  ["GET", "/api2/json/nodes/pve/storage/local/content"],
  ["DELETE", "/api2/json/nodes/pve/storage/local/content/local:iso/of-others.iso"],
  ["DELETE", "/api2/json/nodes/pve/storage/local/content/local%3Aiso%2F..%2F..%2Fx.iso"],
  ["PUT", "/api2/json/access/acl"],
  ["GET", "/"],
  ["GET", "/pve2/js"],
])("%s %s is not passed on, and the log says so", async (method, path) => {
  expect((await ask(method, path)).status).toBeGreaterThanOrEqual(400)
  await ask(method, path)
  expect(seen).toEqual([])
  expect(refused).toHaveLength(1)
})

it.each([
  ["GET", "/cluster/resources?type=vm"],
  ["GET", "/cluster/nextid"],
  ["GET", "/access/permissions"],
  ["GET", "/cluster/ha/resources/120"],
  ["GET", "/nodes/pve/tasks/UPID%3Apve%3A0001%3A0002%3A65%3Aqmcreate%3A120%3Abuild-1%40pve!build%3A/status"],
  ["GET", "/nodes/pve/qemu/120/pending"],
  ["POST", "/nodes/pve/qemu/120/status/shutdown"],
  ["GET", "/nodes/pve/qemu/120/agent/network-get-interfaces"],
  ["DELETE", "/nodes/pve/qemu/120"],
])("%s %s is what builders call", async (method, path) => {
  expect((await ask(method, `/api2/json${path}`)).status).toBe(200)
  expect(seen[0]).toMatchObject({ method, url: `/api2/json${path}` })
})

describe("the next free number of a VM", () => {
  const next = async (through = door) =>
    JSON.parse((await ask("GET", "/api2/json/cluster/nextid", "", {}, through)).body) as { readonly data: unknown }

  it("is another one for each build that goes on, the same for one that asks again, and free again when it ends", async () => {
    answers["GET /cluster/nextid"] = { data: "150" }
    answers["GET /cluster/nextid?vmid=151"] = { status: 400 }
    const others = ["rw-build-2", "rw-build-3"].map((pool) => open(false, pool))
    expect((await Promise.all([door, ...others].map(next))).toSorted((a, b) => Number(a.data) - Number(b.data))).toEqual([
      { data: "150" },
      { data: "152" },
      { data: "153" },
    ])
    const mine = await next()
    expect(await next()).toEqual(mine)
    // it is a VM's now
    answers[`GET /cluster/nextid?vmid=${String(mine.data)}`] = { status: 400 }
    answers["GET /cluster/nextid"] = { data: "160" }
    expect(await next()).toEqual({ data: "160" })
    for (const other of others) other.close()
    door.close()
    answers["GET /cluster/nextid"] = { data: "152" }
    expect(await next()).toEqual({ data: "152" })
  })

  it("is the one after the highest in the list of VMs, as the oldest versions take it; none is added for a build that has its VM", async () => {
    const rows = [{ id: "qemu/118", type: "qemu", vmid: 118, name: "debian", node: "pve" }]
    answers["GET /cluster/resources?type=vm"] = { data: rows }
    // of a range, which the build does not see
    answers["GET /cluster/nextid?vmid=119"] = { status: 400 }
    const second = open(false, "rw-build-2")
    const listed = async (through = door) =>
      (
        JSON.parse((await ask("GET", "/api2/json/cluster/resources?type=vm", "", {}, through)).body) as {
          readonly data: typeof rows
        }
      ).data
    const highest = async (through = door) => Math.max(...(await listed(through)).map(({ vmid }) => vmid))
    const both = await Promise.all([highest(), highest(second)])
    expect(both.toSorted((a, b) => a - b)).toEqual([119, 120])
    expect(await highest()).toBe(both[0])
    expect((await listed()).filter(({ name }) => name === "debian")).toEqual(rows)
    await ask("POST", "/api2/json/nodes/pve/qemu", `vmid=${Number(both[0]) + 1}`, form)
    expect(await listed()).toEqual(rows)
    second.close()
  })

  it("is what the hypervisor answers where that is no number, and where one is asked for", async () => {
    answers["GET /cluster/nextid"] = { status: 500, data: null }
    expect((await ask("GET", "/api2/json/cluster/nextid")).status).toBe(500)
    answers["GET /cluster/nextid"] = { data: "x" }
    expect(await next()).toEqual({ data: "x" })
    expect((await ask("GET", "/api2/json/cluster/nextid?vmid=100")).status).toBe(400)
  })
})

it("disks are made beforehand only for VMs that are not there yet", async () => {
  const make = (fields: string) => ask("POST", "/api2/json/nodes/pve/storage/local-lvm/content", fields, form)
  const made = () => seen.filter(({ method }) => method === "POST").length
  expect((await make("vmid=120&filename=vm-120-disk-0&size=8G")).status).toBe(200)
  expect((await make("vmid=120&filename=120/vm-120-disk-1.qcow2&size=8G")).status).toBe(200)
  expect(made()).toBe(2)
  for (const fields of ["vmid=100&filename=vm-100-disk-9", "vmid=120&filename=vm-100-disk-9", "vmid=120&filename=../x", ""])
    expect((await make(`${fields}&size=8G`)).status).toBeGreaterThanOrEqual(400)
  expect(made()).toBe(2)
})

const uploads = "/api2/json/nodes/pve/storage/local/upload"
const multipart = { "content-type": "multipart/form-data; boundary=packers" }
const uploadOf = (filename: string, file: string, contentField = "iso"): string =>
  [
    `--packers\r\nContent-Disposition: form-data; name="content"\r\n\r\n${contentField}\r\n`,
    `--packers\r\nContent-Disposition: form-data; name="filename"; filename="${filename}"\r\n`,
    `Content-Type: application/octet-stream\r\n\r\n${file}\r\n--packers--\r\n`,
  ].join("")

it("an image gets a name that only images of this build have, and is found by the one that it was given", async () => {
  const file = `${"x".repeat(2_000_000)}\r\n--packers\r\nContent-Disposition: form-data; name="filename"; filename="of-others.iso"\r\n\r\n`
  expect((await ask("POST", uploads, uploadOf("answers.iso", file), multipart)).status).toBe(200)
  const boundary = /boundary=(.*)$/u.exec(String(seen[0]?.headers["content-type"]))?.[1] ?? ""
  const parts = seen[0]?.body.split(`--${boundary}`) ?? []
  expect(parts).toHaveLength(4)
  expect(parts[2]).toBe(
    `\r\nContent-Disposition: form-data; name="filename"; filename="rw-build-1-answers.iso"\r\nContent-Type: application/octet-stream\r\n\r\n${file}\r\n`,
  )
  const devices = "sata0=local:iso/answers.iso,media=cdrom&ide2=file=local:iso/other.iso,media=cdrom"
  await ask("POST", "/api2/json/nodes/pve/qemu/120/config", devices, form)
  expect(Object.fromEntries(new URLSearchParams(seen[1]?.body))).toEqual({
    sata0: "local:iso/rw-build-1-answers.iso,media=cdrom",
    ide2: "file=local:iso/other.iso,media=cdrom",
  })
  expect((await ask("DELETE", "/api2/json/nodes/pve/storage/local/content/local:iso/answers.iso")).status).toBe(200)
  expect(decodeURIComponent(seen[2]?.url ?? "")).toBe(
    "/api2/json/nodes/pve/storage/local/content/local:iso/rw-build-1-answers.iso",
  )
})

it.each([
  ["a path", uploadOf("../x.iso", "x")],
  ["another ending", uploadOf("x.qcow2", "x")],
  ["another content", uploadOf("x.iso", "x", "vztmpl")],
  ["no frame", "x".repeat(100_000)],
])("an upload with %s is refused", async (_, body) => {
  expect((await ask("POST", uploads, body, multipart)).status).toBe(400)
  expect(seen).toEqual([])
})

describe("what a build may make of the hypervisor", () => {
  const made = () => seen.filter(({ method }) => method !== "GET").length
  const make = (vmid: number, fields = "") => ask("POST", "/api2/json/nodes/pve/qemu", `vmid=${vmid}&${fields}`, form)
  const configure = (vmid: number, fields: string) => ask("PUT", `/api2/json/nodes/pve/qemu/${vmid}/config`, fields, form)
  const grow = (vmid: number, fields: string) => ask("PUT", `/api2/json/nodes/pve/qemu/${vmid}/resize`, fields, form)
  const clone = (vmid: number) => ask("POST", "/api2/json/nodes/pve/qemu/900/clone", `newid=${vmid}&full=1`, form)

  it.each([
    ["cores=999", "the build asks for 999 cores, but template_build_cores allows a build 8"],
    ["cores=4&sockets=3", "12 cores"],
    ["memory=999999", "the build asks for 977 GiB of memory, but template_build_memory allows a build 16 GiB"],
    ["memory=current%3D999999", "of memory"],
    ["scsi0=local:101", "the build asks for 101 GiB of disks and images, but template_build_disk allows a build 100 GiB"],
    ["scsi0=format=raw,file=local:60&virtio1=local:60", "120 GiB"],
    ["efidisk0=101", "101 GiB"],
    ["scsi0=local:0,import-from=local:import/x.qcow2", "scsi0 imports a disk"],
    ["archive=local:backup/vzdump.vma", "it restores a backup"],
    ["cores=0x10", "cores"],
    ["memory=1e9", "memory"],
  ])("is bounded: %s is refused for a VM that is made and for one that is there", async (fields, because) => {
    const refusal = await make(120, fields)
    expect([refusal.status, refusal.body]).toEqual([403, expect.stringContaining(because)])
    expect(refused).toEqual([expect.stringContaining(because)])
    expect(made()).toBe(0)
    expect((await make(120)).status).toBe(200)
    expect((await configure(120, fields)).status).toBe(403)
    expect(made()).toBe(1)
  })

  it("is counted over all of its VMs, and not given back by a smaller configuration", async () => {
    expect((await make(120, "cores=5&memory=4096")).status).toBe(200)
    expect((await configure(120, "cores=1")).status).toBe(200)
    expect((await make(121, "cores=4")).body).toContain("9 cores")
    expect((await make(121, "cores=3&memory=12289")).body).toContain("memory")
    expect((await make(121, "cores=3")).status).toBe(200)
    expect((await make(122)).body).toContain("3 VMs, but template_build_vms allows a build 2")
  })

  it("counts a VM until it is gone, and not one that the hypervisor refused to make", async () => {
    answers["POST /nodes/pve/qemu"] = { status: 500 }
    for (const vmid of [110, 111, 112]) expect((await make(vmid, "cores=8&scsi0=local:80")).status).toBe(500)
    answers = { "GET /cluster/nextid?vmid=120": { status: 400 } }
    expect((await make(120, "cores=8&scsi0=local:80")).status).toBe(200)
    await ask("DELETE", "/api2/json/nodes/pve/qemu/120")
    expect((await make(121)).body).toContain("cores")
    answers = {}
    expect((await make(121, "cores=8&scsi0=local:80")).status).toBe(200)
  })

  it("counts concurrent calls together", async () => {
    const all = await Promise.all([120, 121, 122, 123, 124].map((vmid) => make(vmid)))
    expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 403, 403, 403])
  })

  it("counts what a clone has as its template has it", async () => {
    const config = {
      cores: 4,
      sockets: 2,
      memory: "2048",
      scsi0: "local:base-900-disk-0,size=60G",
      ide2: "local:iso/x.iso,media=cdrom,size=900G",
    }
    answers["GET /nodes/pve/qemu/900/config"] = { data: config }
    expect((await clone(120)).status).toBe(200)
    expect((await clone(121)).body).toContain("16 cores")
    expect((await grow(120, "disk=scsi0&size=100G")).status).toBe(200)
    expect((await grow(120, "disk=scsi0&size=%2B1G")).body).toContain("101 GiB")
    answers["GET /nodes/pve/qemu/900/config"] = { status: 403 }
    expect((await clone(122)).body).toContain("the build cannot see VM 900")
  })

  it("counts disks that a device had before, that grow, and that wait for their VM", async () => {
    expect((await make(120, "scsi0=local:40")).status).toBe(200)
    expect((await configure(120, "scsi0=local:40")).status).toBe(200)
    expect((await configure(120, "scsi0=local:40")).body).toContain("120 GiB")
    expect((await grow(120, "disk=scsi0&size=61G")).body).toContain("101 GiB")
    const loose = (size: string) =>
      ask("POST", "/api2/json/nodes/pve/storage/local-lvm/content", `vmid=130&filename=vm-130-disk-0&size=${size}`, form)
    expect((await loose("21G")).body).toContain("101 GiB")
    expect((await loose("20G")).status).toBe(200)
  })

  it("counts images until the build removes them", async () => {
    expect((await make(120, "scsi0=local:99.999")).status).toBe(200)
    const image = "x".repeat(1_200_000)
    expect((await ask("POST", uploads, uploadOf("a.iso", image), multipart)).body).toContain("of disks and images")
    expect((await ask("POST", uploads, uploadOf("a.iso", image.slice(0, 700_000)), multipart)).status).toBe(200)
    expect((await ask("POST", uploads, uploadOf("b.iso", image.slice(0, 700_000)), multipart)).status).toBe(403)
    await ask("DELETE", "/api2/json/nodes/pve/storage/local/content/local:iso/a.iso")
    expect((await ask("POST", uploads, uploadOf("b.iso", image.slice(0, 700_000)), multipart)).status).toBe(200)
  })
})
