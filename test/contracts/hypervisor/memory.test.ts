import { addTemplate, makeMemoryWorld, memoryHypervisorLayer } from "@rangewright/adapter-memory"
import { createManualClock } from "@rangewright/pve-simulator"
import { consoleContract } from "./console.contract.ts"
import { hypervisorContracts } from "./contracts.ts"
import { othersOfMemory } from "./support/others.ts"
import { runOnSimTime } from "./support/sim-time.ts"
import { type HypervisorUnderTest, vmidOf, type World } from "./support/under-test.ts"

const memory: HypervisorUnderTest = {
  name: "memory",
  make: async () => {
    const clock = createManualClock()
    const memory = makeMemoryWorld()
    addTemplate(memory, 100, "debian-template")
    memory.networks.set("vmbr1000", { spec: { type: "bridge", name: "vmbr1000", node: "node1", comment: "" }, ours: false })
    const world = (): World => ({
      run: (effect) => runOnSimTime(clock, effect, memoryHypervisorLayer(memory)),
      restarted: world,
      node: "node1",
      template: { vmid: vmidOf(100), node: "node1", name: "debian-template" },
      stranger: async (vmid) => {
        addTemplate(memory, vmid, "stranger")
        memory.vms.set(vmidOf(vmid), { ...memory.vms.get(vmidOf(vmid))!, template: false })
      },
      remove: async (vmid) => void memory.vms.delete(vmidOf(vmid)),
      exists: (vmid) => memory.vms.has(vmidOf(vmid)),
      others: othersOfMemory(memory),
      close: async () => {},
    })
    return world()
  },
}

hypervisorContracts(memory)
consoleContract(memory)
