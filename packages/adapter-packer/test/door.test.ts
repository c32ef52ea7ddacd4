import * as Redacted from "effect/Redacted"
import { Agent, createServer, request, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, beforeEach, expect, it } from "vitest"
import { type ApiCall, openDoor } from "../src/door.ts"

let api: Server
let seen: { method: string; url: string; headers: Record<string, unknown>; body: string }[]
let calls: ApiCall[]
let door: ReturnType<typeof openDoor>

beforeEach(async () => {
  seen = []
  calls = []
  api = createServer((asked, response) => {
    let body = ""
    asked.setEncoding("utf8").on("data", (chunk: string) => (body += chunk))
    asked.on("end", () => {
      seen.push({ method: asked.method ?? "", url: asked.url ?? "", headers: asked.headers, body })
      response.end(JSON.stringify({ data: "answered" }))
    })
  }).listen(0, "127.0.0.1")
  await new Promise((resolve) => api.once("listening", resolve))
  door = openDoor({
    hypervisor: { url: `http://127.0.0.1:${(api.address() as AddressInfo).port}`, agent: new Agent() },
    account: { username: "build-1@pve", tokenId: "build-1@pve!build", tokenSecret: Redacted.make("the-secret") },
    refuses: (url) => Promise.resolve(url.includes("127.0.0.1") ? "it is not public" : undefined),
    onCall: (call) => calls.push(call),
  })
})
afterEach(() => {
  door.close()
  api.closeAllConnections()
  api.close()
})

const ask = (method: string, path: string, body = "", headers: Record<string, string> = {}) =>
  new Promise<{ status: number; body: string }>((resolve, reject) => {
    void door.dial("hypervisor", 80).then((socket) => {
      const agent = new Agent()
      agent.createConnection = () => socket
      const outgoing = request({ agent, method, path, headers }, (response) => {
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

it("the node downloads what is public, and nothing else", async () => {
  const at = "/api2/json/nodes/pve/storage/local/download-url"
  const refused = [
    await ask("POST", at, "content=iso&url=http%3A%2F%2F127.0.0.1%2Fx", form),
    await ask("POST", at, JSON.stringify({ url: "http://127.0.0.1/x" }), { "content-type": "application/json" }),
    await ask("POST", `${at}?url=http://127.0.0.1/x`, "url=https://images.example/x", form),
  ]
  expect(refused.map(({ status }) => status)).toEqual([403, 403, 403])
  expect(refused[0]?.body).toContain("the node does not fetch http://127.0.0.1/x: it is not public")
  expect(seen).toEqual([])
  expect((await ask("POST", at, "url=https://images.example/x", form)).status).toBe(200)
  expect(seen[0]?.body).toBe("url=https://images.example/x")
})

it.each([
  ["POST", "/api2/json/nodes/pve/qemu/120/monitor"],
  ["POST", "/api2/json/nodes/pve/qemu/120//monitor/"],
  ["POST", "/api2/json/nodes/pve/qemu/120/%6donitor"],
  ["POST", "/api2/json/nodes/pve/qemu/120/%"],
  ["GET", "/"],
  ["GET", "/pve2/js"],
])("%s %s is not passed on", async (method, path) => {
  expect((await ask(method, path)).status).toBeGreaterThanOrEqual(400)
  expect(seen).toEqual([])
})

it("a large body goes through as it comes", async () => {
  const body = "x".repeat(2_000_000)
  const { status } = await ask("POST", "/api2/json/nodes/pve/storage/local/upload", body, {
    "content-length": String(body.length),
  })
  expect([status, seen[0]?.body.length]).toEqual([200, body.length])
})
