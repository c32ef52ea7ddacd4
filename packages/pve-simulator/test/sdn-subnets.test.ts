import { expect, test } from "vitest"
import { createLab } from "./support/client.ts"

const subnets = "/cluster/sdn/vnets/vs/subnets"
const subnet = `${subnets}/zs-10.7.0.0-24`
const range = (from: string, to: string) => `start-address=${from},end-address=${to}`

const labWithSubnet = async (options: Record<string, unknown> = {}) => {
  const lab = createLab()
  await lab.ok("POST", "/cluster/sdn/zones", { zone: "zs", type: "simple" })
  await lab.ok("POST", "/cluster/sdn/vnets", { vnet: "vs", zone: "zs" })
  await lab.ok("POST", subnets, { subnet: "10.7.0.0/24", type: "subnet", gateway: "10.7.0.1", ...options })
  return lab
}

test("the ranges of a subnet's leases are read as objects", async () => {
  const lab = await labWithSubnet({ "dhcp-range": [range("10.7.0.100", "10.7.0.149"), range("10.7.0.200", "10.7.0.249")] })
  const ranges = [
    { "start-address": "10.7.0.100", "end-address": "10.7.0.149" },
    { "start-address": "10.7.0.200", "end-address": "10.7.0.249" },
  ]
  expect(await lab.ok("GET", subnets)).toMatchObject([{ "dhcp-range": ranges }])
  expect(await lab.ok("GET", subnet)).toMatchObject({ "dhcp-range": ranges })
  await lab.ok("PUT", subnet, { "dhcp-range": [range("10.7.0.5", "10.7.0.9")] })
  expect(await lab.ok("GET", subnet)).toMatchObject({ "dhcp-range": [{ "start-address": "10.7.0.5" }] })
})

test("ranges must be in their subnet, in order, and apart", async () => {
  const lab = await labWithSubnet()
  const refusal = async (...ranges: readonly string[]) => (await lab.call("PUT", subnet, { "dhcp-range": ranges })).message
  const prefix = "update sdn subnet object failed: 400 Parameter verification failed.\ndhcp-range: "
  expect(await refusal(range("10.8.0.1", "10.8.0.9"))).toBe(`${prefix}start-address 10.8.0.1 is not in subnet 10.7.0.0/24\n`)
  expect(await refusal(range("10.7.0.1", "10.8.0.9"))).toBe(`${prefix}end-address 10.8.0.9 is not in subnet 10.7.0.0/24\n`)
  expect(await refusal(range("10.7.0.9", "10.7.0.5"))).toBe(
    `${prefix}start-address 10.7.0.9 must be smaller than end-address 10.7.0.5\n`,
  )
  expect(await refusal(range("10.7.0.5", "10.7.0.9"), range("10.7.0.9", "10.7.0.12"))).toBe(
    `${prefix}dhcp ranges must not overlap\n`,
  )
})

test("an edit of a subnet removes options, and is refused if the subnet changed meanwhile", async () => {
  const lab = await labWithSubnet({ snat: 1, "dhcp-range": [range("10.7.0.100", "10.7.0.149")] })
  const { digest } = (await lab.ok("GET", subnet)) as { digest: string }
  await lab.ok("PUT", subnet, { delete: "gateway,snat,dhcp-range", digest })
  const after = (await lab.ok("GET", subnet)) as Record<string, unknown>
  expect(after["dhcp-range"]).toEqual([])
  expect(after).not.toHaveProperty("gateway")
  expect(after).not.toHaveProperty("snat")
  expect((await lab.call("PUT", subnet, { snat: 1, digest })).message).toContain("detected modified configuration")
})
