import { expect, test } from "vitest"
import { createLab } from "./support/client.ts"

const network = "/nodes/pve/network"

test("a VLAN's interface tells its device and its number, named after both or only after the number", async () => {
  const lab = createLab()
  await lab.ok("POST", network, { iface: "eno1.50", type: "vlan", autostart: 1 })
  expect(await lab.ok("GET", `${network}/eno1.50`)).toMatchObject({ "vlan-raw-device": "eno1", "vlan-id": "50" })
  await lab.ok("POST", network, { iface: "vlan60", type: "vlan", autostart: 1, "vlan-raw-device": "eno1" })
  expect(await lab.ok("GET", `${network}/vlan60`)).toMatchObject({ "vlan-raw-device": "eno1", "vlan-id": "60" })
  await lab.ok("POST", network, { iface: "lab0", type: "vlan", "vlan-raw-device": "eno1", "vlan-id": 70 })
  expect(await lab.ok("GET", `${network}/lab0`)).toMatchObject({ "vlan-raw-device": "eno1" })
})

test("a node has one default gateway", async () => {
  const lab = createLab()
  const refused = { gateway: "Default gateway already exists on interface 'vmbr0'." }
  const bridge = { type: "bridge", cidr: "10.6.0.2/24", gateway: "10.6.0.1" }
  expect((await lab.call("POST", network, { iface: "vmbr6", ...bridge })).errors).toEqual(refused)
  await lab.ok("POST", network, { iface: "vmbr6", type: "bridge", cidr: "10.6.0.2/24" })
  expect((await lab.call("PUT", `${network}/vmbr6`, bridge)).errors).toEqual(refused)
  expect(await lab.call("PUT", `${network}/vmbr0`, { type: "bridge", cidr: "10.0.0.11/24", gateway: "10.0.0.2" })).toMatchObject({
    status: 200,
  })
})
