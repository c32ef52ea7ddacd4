/** Plan the migration of an installation's networks from Linux bridges to an SDN VXLAN zone, from a description of its nodes, ranges and machines. */
import { planNetworkMigration, rangeId, vmid } from "@rangewright/embed"

const node = (name: string, address: string) => ({ name, online: true, address, missingPackages: [], pending: [] })
const { plan, text } = planNetworkMigration({
  installation: {
    nodes: [node("pve1", "192.0.2.11"), node("pve2", "192.0.2.12")],
    ranges: [{ id: rangeId("LAB"), number: 1, groups: [] }],
    machines: [
      {
        vmid: vmid(20_000),
        node: "pve1",
        name: "LAB-web",
        kind: "vm",
        template: false,
        pool: "LAB",
        tags: [],
        running: false,
        lock: undefined,
        description: "",
        nics: [{ nic: "net0", text: "virtio=BC:24:11:00:00:01,bridge=vmbr1001,tag=20" }],
        snapshots: [],
      },
    ],
  },
})
process.stdout.write(`${plan.steps.length} steps\n${text}\n`)
