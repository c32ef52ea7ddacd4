import { hypervisorContracts } from "./contracts.ts"
import { makeRig } from "./support/rig.ts"

hypervisorContracts({ name: "Proxmox over the simulator", make: async () => makeRig() })
