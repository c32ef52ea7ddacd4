import { once } from "node:events"
import { connect } from "node:net"
import { afterAll, beforeAll, expect, test } from "vitest"
import { sqliteDatabases } from "./sqlite-storage.ts"
import { startWholeService, type WholeService } from "./service.ts"

let databases: Awaited<ReturnType<typeof sqliteDatabases>>
let service: WholeService
beforeAll(async () => {
  databases = await sqliteDatabases()
  const { storage, seeded } = await databases.next()
  service = await startWholeService({ storage, seeded })
})
afterAll(async () => {
  await service.stop()
  await databases.remove()
})

const roles = (machine: number) => Array.from({ length: 20 }, (_, i) => `acme.role_${machine}_${i}`).join(", ")
const machine = (
  i: number,
) => `  - { vm_name: "{{ range_id }}-m${i}", hostname: m${i}, template: debian-12-x64-server-template, vlan: 10,
      ip_last_octet: ${i + 1}, ram_gb: 1, cpus: 1, linux: true, roles: [${roles(i)}] }`
const config = `ludus:\n${Array.from({ length: 60 }, (_, i) => machine(i)).join("\n")}\n`

const ask = (method: string, path: string, body?: object) =>
  fetch(service.url + path, {
    method,
    headers: { "x-api-key": service.keys.member, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })

test("others are answered while a member keeps requesting a blueprint with very many roles", async () => {
  const made = await ask("POST", "/api/v2/blueprints", { blueprintID: "large", config })
  expect([made.status, await made.text()]).toEqual([201, expect.any(String)])
  const answered: string[] = []
  const note = async (what: string, answer: Promise<Response>) => {
    const { status } = await answer
    answered.push(`${what} ${status}`)
  }
  const many = Array.from({ length: 20 }, () => note("blueprint", ask("GET", "/api/v2/blueprints/large")))
  await Promise.all([...many, note("health", fetch(`${service.url}/healthz`))])
  expect(answered.filter((one) => one === "blueprint 200")).toHaveLength(20)
  expect(answered.indexOf("health 200")).toBeGreaterThanOrEqual(0)
  expect(answered.indexOf("health 200")).toBeLessThan(4)
})

/** A request whose last byte is held back until asked for. Returns the first line of the response. */
const held = async (body: string) => {
  const socket = connect(service.port, "127.0.0.1")
  await once(socket, "connect")
  const head = `POST /api/v2/blueprints HTTP/1.1\r\nHost: x\r\nX-API-KEY: ${service.keys.member}\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`)
  await new Promise((resolve) => socket.write(body.slice(0, -1), resolve))
  return async () => {
    socket.write(body.slice(-1))
    const [answer] = (await once(socket, "data")) as [Buffer]
    socket.destroy()
    return answer.toString().split("\r\n")[0]
  }
}

test("others are answered while a member sends many bodies that are slow to parse", async () => {
  const answered: (string | undefined)[] = []
  const bodies = await Promise.all(Array.from({ length: 20 }, () => held("[".repeat(1_000_000))))
  // until the service has read what was sent of them
  for (let asked = 0; asked < 50; asked++) await (await fetch(`${service.url}/healthz`)).text()
  await Promise.all([
    ...bodies.map(async (release) => answered.push(await release())),
    fetch(`${service.url}/healthz`).then(() => answered.push("health")),
  ])
  expect(answered.filter((line) => line === "HTTP/1.1 400 Bad Request")).toHaveLength(20)
  expect(answered.indexOf("health")).toBeLessThan(6)
})

test("a list with far too many items is refused", async () => {
  const userIDs = Array.from({ length: 10_001 }, (_, i) => `U${i}`)
  const made = await ask("POST", "/api/v2/blueprints/large/share/users", { userIDs })
  expect([made.status, (await made.json()) as object]).toEqual([
    400,
    expect.objectContaining({ error: "Cannot share blueprint large: userIDs names 10001 items" }),
  ])
})

test("each of many concurrent copies by one member gets an ID of its own", async () => {
  const copies = await Promise.all(Array.from({ length: 30 }, () => ask("POST", "/api/v2/blueprints/large/copy")))
  const made = await Promise.all(
    copies.map(async (copy) => ((await copy.json()) as { readonly blueprintID: string }).blueprintID),
  )
  expect(copies.map(({ status }) => status)).toEqual(copies.map(() => 201))
  expect(new Set(made).size).toBe(30)
})
