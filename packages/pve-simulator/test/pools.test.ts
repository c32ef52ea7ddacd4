import { expect, test } from "vitest"
import { createLab } from "./support/client.ts"

test("a machine is in one pool: it is added once, moves only when told to, and leaves with its end", async () => {
  const lab = createLab()
  await lab.ok("POST", "/pools", { poolid: "one", comment: "first" })
  await lab.ok("POST", "/pools", { poolid: "two" })
  const put = async (poolid: string, parameters: Record<string, unknown>) =>
    (await lab.call("PUT", "/pools", { poolid, ...parameters })).message
  await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200, pool: "one" })
  expect(await put("one", { vms: "200" })).toBe("update pools failed: VM 200 is already a pool member\n")
  expect(await put("two", { vms: "200" })).toBe(
    "update pools failed: VM 200 belongs already to pool 'one' and 'allow-move' is not set\n",
  )
  expect(await put("two", { vms: "200", delete: 1 })).toBe("update pools failed: VM 200 is not a pool member\n")
  expect(await put("two", { vms: "200", "allow-move": 1 })).toBeUndefined()
  expect(await lab.ok("GET", "/pools?poolid=two")).toMatchObject([{ poolid: "two", members: [{ vmid: 200, type: "qemu" }] }])
  expect((await lab.call("DELETE", "/pools?poolid=two")).message).toBe(
    "delete pool failed: pool 'two' is not empty (contains VM 200)\n",
  )
  await lab.task("DELETE", "/nodes/pve/qemu/200")
  expect((await lab.call("DELETE", "/pools?poolid=two")).status).toBe(200)
  expect(await put("two", { comment: "x" })).toBe("update pools failed: pool 'two' does not exist\n")
})

test("a refused change of members changes none of them", async () => {
  const lab = createLab()
  await lab.ok("POST", "/pools", { poolid: "one" })
  const answer = await lab.call("PUT", "/pools", { poolid: "one", vms: "900,100" })
  expect(answer.message).toContain("VM 100 belongs already to pool 'SHARED'")
  expect(lab.sim.state.pools.get("one")?.vms.size).toBe(0)
})

test("pools nest three deep below existing parents, with names that start with a letter", async () => {
  const lab = createLab()
  const create = async (poolid: string) => await lab.call("POST", "/pools", { poolid })
  expect((await create("a/b")).message).toBe("create pool failed: parent 'a' of pool 'a/b' does not exist\n")
  for (const id of ["a", "a/b", "a/b/c"]) expect((await create(id)).status, id).toBe(200)
  expect((await create("a/b/c/d")).status).toBe(400)
  expect((await create("9lives")).message).toBe("create pool failed: pool name must start with a letter\n")
  expect((await create("a")).message).toBe("create pool failed: pool 'a' already exists\n")
  expect((await lab.call("DELETE", "/pools?poolid=a/b")).message).toBe(
    "delete pool failed: pool 'a/b' is not empty (contains pool 'a/b/c')\n",
  )
  // the older form takes one path segment
  expect((await lab.call("GET", "/pools/a")).status).toBe(200)
  expect((await lab.call("GET", "/pools/a%2Fb")).status).toBe(501)
})
