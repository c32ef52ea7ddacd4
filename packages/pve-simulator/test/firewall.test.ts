import { expect, test } from "vitest"
import { createLab } from "./support/client.ts"

const guest = "/nodes/pve/qemu/100/firewall"

test("a new rule stands above the others, is moved, changed and deleted by its place", async () => {
  const lab = createLab()
  const rules = async () => (await lab.ok("GET", `${guest}/rules`)) as { pos: number; comment: string; digest: string }[]
  for (const comment of ["one", "two", "three"])
    await lab.ok("POST", `${guest}/rules`, { type: "in", action: "ACCEPT", comment, pos: 1 })
  expect((await rules()).map(({ pos, comment }) => [pos, comment])).toEqual([
    [0, "three"],
    [1, "two"],
    [2, "one"],
  ])
  await lab.ok("PUT", `${guest}/rules/0`, { moveto: 3 })
  expect((await rules()).map(({ comment }) => comment)).toEqual(["two", "one", "three"])
  const { digest } = (await rules())[0]!
  await lab.ok("PUT", `${guest}/rules/1`, {
    enable: 1,
    proto: "tcp",
    dport: "80,443",
    source: "10.0.0.0/8",
    delete: "comment",
    digest,
  })
  expect(await lab.ok("GET", `${guest}/rules/1`)).toMatchObject({
    type: "in",
    action: "ACCEPT",
    enable: 1,
    proto: "tcp",
    dport: "80,443",
    source: "10.0.0.0/8",
    ipversion: 4,
    pos: 1,
  })
  expect((await lab.call("DELETE", `${guest}/rules/1?digest=${digest}`)).message).toBe(
    "detected modified configuration - file changed by other user? Try again.\n",
  )
  await lab.ok("DELETE", `${guest}/rules/1`)
  expect((await rules()).map(({ comment }) => comment)).toEqual(["two", "three"])
  expect((await lab.call("GET", `${guest}/rules/7`)).message).toBe("no rule at position 7\n")
})

test("a rule may name only what exists", async () => {
  const lab = createLab()
  const create = async (rule: Record<string, unknown>) =>
    await lab.call("POST", `${guest}/rules`, { type: "in", action: "ACCEPT", ...rule })
  expect((await create({ macro: "Nothing" })).errors).toEqual({ macro: "unknown macro 'Nothing'" })
  expect((await create({ action: "PERHAPS" })).errors).toEqual({ action: "unknown action 'PERHAPS'" })
  expect((await create({ type: "group", action: "web" })).errors).toEqual({ action: "security group 'web' does not exist" })
  expect((await create({ source: "+good" })).errors).toEqual({ source: "no such ipset 'good'" })
  expect((await create({ dest: "printer" })).errors).toEqual({ dest: "no such alias 'printer'" })
  expect((await create({ dport: "80" })).errors).toEqual({ proto: "missing property - 'dport' requires this property" })
  for (const wrong of [{ dport: "70000" }, { source: "1.2.3" }, { proto: "a b" }]) expect((await create(wrong)).status).toBe(400)
  expect(await lab.ok("GET", `${guest}/rules`)).toEqual([])
  await lab.ok("POST", "/cluster/firewall/groups", { group: "web", comment: "all of them" })
  await lab.ok("POST", "/cluster/firewall/groups/web", { type: "in", action: "ACCEPT", macro: "HTTPS", enable: 1 })
  await lab.ok("POST", "/cluster/firewall/aliases", { name: "Printer", cidr: "10.0.0.9" })
  await lab.ok("POST", `${guest}/ipset`, { name: "good" })
  await lab.ok("POST", `${guest}/ipset/good`, { cidr: "10.9.0.0/16", nomatch: 1, comment: "x" })
  expect((await create({ type: "group", action: "web" })).status).toBe(200)
  expect((await create({ source: "+good", dest: "dc/printer" })).status).toBe(200)
  expect(await lab.ok("GET", `${guest}/refs`)).toEqual([
    { type: "alias", name: "Printer", ref: "dc/Printer", scope: "dc" },
    { type: "ipset", name: "good", ref: "+guest/good", scope: "guest" },
  ])
  expect(await lab.ok("GET", "/cluster/firewall/groups/web")).toMatchObject([{ macro: "HTTPS", enable: 1, pos: 0 }])
  expect((await lab.call("DELETE", "/cluster/firewall/groups/web")).message).toBe("Security group 'web' is not empty\n")
})

test("options, aliases and sets are read as they were set, each firewall its own", async () => {
  const lab = createLab()
  const digest = expect.any(String) as string
  await lab.ok("PUT", `${guest}/options`, { enable: 1, policy_in: "DROP", macfilter: 0 })
  await lab.ok("PUT", `${guest}/options`, { delete: "macfilter" })
  expect(await lab.ok("GET", `${guest}/options`)).toEqual({ enable: 1, policy_in: "DROP", digest })
  expect(await lab.ok("GET", "/nodes/pve/qemu/101/firewall/options")).toEqual({ digest })
  await lab.ok("PUT", "/nodes/pve/firewall/options", { enable: 0, nf_conntrack_max: 300_000 })
  expect(await lab.ok("GET", "/nodes/pve/firewall/options")).toEqual({ enable: 0, nf_conntrack_max: 300_000, digest })
  await lab.ok("PUT", "/cluster/firewall/options", { enable: 1, log_ratelimit: "enable=1,burst=5" })
  expect(await lab.ok("GET", "/cluster/firewall/options")).toEqual({ enable: 1, log_ratelimit: "enable=1,burst=5", digest })

  await lab.ok("POST", `${guest}/aliases`, { name: "Home", cidr: "10.0.0.0/24", comment: "x" })
  expect((await lab.call("POST", `${guest}/aliases`, { name: "home", cidr: "10.0.0.1" })).errors).toEqual({
    name: "alias 'home' already exists",
  })
  await lab.ok("PUT", `${guest}/aliases/home`, { cidr: "fd00::/64", rename: "away" })
  expect(await lab.ok("GET", `${guest}/aliases/away`)).toEqual({ name: "away", cidr: "fd00::/64", ipversion: 6, digest })
  expect((await lab.call("GET", `${guest}/aliases/home`)).errors).toEqual({ name: "no such alias" })

  await lab.ok("POST", `${guest}/ipset`, { name: "good", comment: "x" })
  await lab.ok("POST", `${guest}/ipset/good`, { cidr: "10.9.0.0/16" })
  expect((await lab.call("POST", `${guest}/ipset/good`, { cidr: "10.9.0.0/16" })).errors).toEqual({
    cidr: "address '10.9.0.0/16' already exists",
  })
  const entry = `${guest}/ipset/good/${encodeURIComponent("10.9.0.0/16")}`
  await lab.ok("PUT", entry, { comment: "y" })
  expect(await lab.ok("GET", entry)).toEqual({ cidr: "10.9.0.0/16", comment: "y", digest })
  expect((await lab.call("DELETE", `${guest}/ipset/good`)).message).toBe("IPSet 'good' is not empty\n")
  await lab.ok("DELETE", entry)
  await lab.ok("POST", `${guest}/ipset`, { name: "better", rename: "good" })
  expect(await lab.ok("GET", `${guest}/ipset`)).toEqual([{ name: "better", comment: "x", digest }])
  expect((await lab.call("GET", `${guest}/ipset/good`)).message).toBe("no such IPSet 'good'\n")
  expect(await lab.ok("GET", `${guest}/log`)).toEqual([{ n: 1, t: "no content" }])
})

test("a clone gets the firewall of its source, which is removed with its machine and survives a restart", async () => {
  const lab = createLab()
  await lab.ok("PUT", "/nodes/pve/qemu/101/firewall/options", { enable: 1 })
  await lab.task("POST", "/nodes/pve/qemu/101/clone", { newid: 200 })
  lab.sim.restore(lab.sim.save())
  expect(await lab.ok("GET", "/nodes/pve/qemu/200/firewall/options")).toMatchObject({ enable: 1 })
  await lab.task("DELETE", "/nodes/pve/qemu/200")
  expect(lab.sim.state.firewalls.has("vm 200")).toBe(false)
})

test("a VNet has a firewall for forwarded traffic, for users with rights on the VNet", async () => {
  const lab = createLab()
  await lab.ok("POST", "/cluster/sdn/zones", { type: "simple", zone: "one" })
  await lab.ok("POST", "/cluster/sdn/vnets", { vnet: "vn1", zone: "one" })
  await lab.ok("POST", "/cluster/sdn/vnets/vn1/subnets", { subnet: "10.9.0.0/24", type: "subnet", gateway: "10.9.0.1" })
  expect(await lab.ok("GET", "/cluster/sdn/ipams/pve/status")).toEqual([
    { zone: "one", vnet: "vn1", subnet: "10.9.0.0/24", ip: "10.9.0.1", gateway: 1 },
  ])
  const base = "/cluster/sdn/vnets/vn1/firewall"
  expect((await lab.call("POST", `${base}/rules`, { type: "in", action: "ACCEPT" })).errors).toEqual({
    type: "unknown rule type 'in'",
  })
  await lab.ok("POST", `${base}/rules`, { type: "forward", action: "DROP" })
  await lab.ok("PUT", `${base}/options`, { enable: 1, policy_forward: "DROP" })
  expect(await lab.ok("GET", `${base}/rules`)).toMatchObject([{ type: "forward", action: "DROP", pos: 0 }])
  expect(await lab.ok("GET", `${base}/options`)).toMatchObject({ enable: 1, policy_forward: "DROP" })
  expect((await lab.call("GET", "/cluster/sdn/vnets/none/firewall/rules")).message).toBe("sdn vnet 'none' does not exist\n")
  await lab.ok("POST", "/access/users", { userid: "ann@pve", password: "long enough" })
  const { value } = (await lab.ok("POST", "/access/users/ann@pve/token/tok", { privsep: 0 })) as { value: string }
  const ann = { token: `ann@pve!tok=${value}` }
  for (const [method, path] of [
    ["GET", "rules"],
    ["GET", "options"],
    ["DELETE", "rules/0"],
  ] as const)
    expect((await lab.call(method, `${base}/${path}`, undefined, ann)).message).toContain("/sdn/zones/one/vn1, SDN.A")
})
