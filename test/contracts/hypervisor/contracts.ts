import { accessContract } from "./access.contract.ts"
import { guestContract } from "./guest.contract.ts"
import { hypervisorContract } from "./hypervisor.contract.ts"
import { migrationContract } from "./migration.contract.ts"
import { networkContract } from "./network.contract.ts"
import { shellContract } from "./shell.contract.ts"
import { snapshotsContract } from "./snapshots.contract.ts"
import type { HypervisorUnderTest } from "./support/under-test.ts"

/** The tests that every adapter of the hypervisor ports passes. */
export const hypervisorContracts = (hypervisor: HypervisorUnderTest): void => {
  for (const contract of [
    hypervisorContract,
    snapshotsContract,
    networkContract,
    accessContract,
    guestContract,
    shellContract,
    migrationContract,
  ])
    contract(hypervisor)
}
