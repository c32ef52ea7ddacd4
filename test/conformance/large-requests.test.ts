import { afterAll, beforeAll, expect, test } from "vitest"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeAll(async () => {
  service = await startWholeService({})
})
afterAll(() => service.stop())

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

test("others are answered while a member asks again and again for a blueprint with very many roles", async () => {
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
