import { GuestAutomation, Hypervisor, HypervisorAccess, type MachineAction } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { bridgeOf, networkAction, performOn } from "./network.contract.ts"
import { makeRig } from "./support/rig.ts"
import { apidoc, schemaProblems, schemaReason } from "./support/schema-check.ts"
import { cloneOf, configureOf, deleteOf, perform, rangeId, refOf, startOf, stopOf } from "./support/under-test.ts"

// every other test on the simulator checks its requests too; these prove that the check looks
describe.skipIf(apidoc === undefined)(`requests against Proxmox's schema (skipped when ${schemaReason})`, () => {
  it("a request that the schema does not allow is found out", () => {
    const problems = (method: "GET" | "POST" | "DELETE", path: string, body?: string) =>
      schemaProblems({ method, path: `/api2/json${path}`, body })
    expect(problems("GET", "/version")).toEqual([])
    expect(problems("GET", "/no/such/path")).toHaveLength(1)
    expect(problems("POST", "/version")).toHaveLength(1)
    expect(problems("POST", "/nodes/pve/qemu/100/clone", "newid=200")).toEqual([])
    expect(problems("POST", "/nodes/pve/qemu/100/clone", "")).toEqual(["POST /nodes/{node}/qemu/{vmid}/clone: newid: missing"])
    expect(problems("POST", "/nodes/pve/qemu/100/clone", "newid=x&full=yes&colour=red&newid=1")).toHaveLength(5)
    expect(problems("DELETE", "/nodes/pve/qemu/100", "purge=1")).toHaveLength(1)
  })

  it("the whole life of a machine keeps to the schema", async () => {
    const rig = makeRig()
    const ref = refOf(rig)
    const steps: readonly MachineAction[] = [
      { ...cloneOf(rig, ref), full: true, storage: "local-lvm" },
      configureOf(ref),
      startOf(ref, true),
      { kind: "shutdown", machine: ref, timeoutSeconds: 90.4 },
      startOf(ref),
      stopOf(ref),
      deleteOf(ref),
    ]
    await rig.run(
      Effect.gen(function* () {
        const access = yield* HypervisorAccess
        yield* access.ensurePool(rangeId)
        yield* performOn(networkAction("create-network", bridgeOf(rig)))
        for (const step of steps) yield* perform(step)
        yield* performOn(networkAction("remove-network", bridgeOf(rig)))
        yield* access.removePool(rangeId)
        yield* (yield* Hypervisor).version
        expect((yield* GuestAutomation).leftOut).toBeUndefined()
      }),
    )
    expect(rig.sim.guest(ref.vmid)).toBeUndefined()
    await rig.close()
  })
})
