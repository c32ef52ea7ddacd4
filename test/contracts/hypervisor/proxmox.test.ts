import { hypervisorContract } from "./hypervisor.contract.ts"
import { makeRig } from "./support/rig.ts"

hypervisorContract({ name: "Proxmox over the simulator", make: async () => makeRig() })
