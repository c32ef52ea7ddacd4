import {
  type AccessChange,
  type AccessPlace,
  type AccountId,
  type AccountKeep,
  adminGroup,
  groupOfAccount,
} from "@rangewright/domain"
import { GuestAutomation, Hypervisor, HypervisorAccess, type MachineAction } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { bridgeOf, networkAction, performOn } from "./network.contract.ts"
import { makeRig } from "./support/rig.ts"
import { apidoc, schemaProblems, schemaReason } from "./support/schema-check.ts"
import { cloneOf, configureOf, deleteOf, perform, rangeId, refOf, startOf, stopOf } from "./support/under-test.ts"

// every other test on the simulator checks its requests too; these prove that the check works
const account = "bob@pve" as AccountId
const group = groupOfAccount(account)
const keep: AccountKeep = { groups: [adminGroup], rights: [{ path: "/vms", role: "PVEAuditor", propagate: false }] }
const place: AccessPlace = { type: "pool", rangeId }
const accessChanges: readonly AccessChange[] = [
  { kind: "create-group", group },
  { kind: "create-group", group: adminGroup },
  { kind: "create-pool", rangeId },
  { kind: "create-account", account, groups: [group], keep },
  { kind: "join-groups", account, groups: [adminGroup] },
  { kind: "grant", place, groups: [group, adminGroup] },
  { kind: "set-password", account, groups: [group], keep },
  { kind: "restore", account, keep },
  { kind: "leave-groups", account, groups: [group, adminGroup] },
  {
    kind: "revoke",
    place,
    subjects: [
      { type: "group", name: group },
      { type: "user", name: account },
    ],
  },
  { kind: "remove-account", account },
  { kind: "remove-group", group },
  { kind: "remove-pool", rangeId },
]

describe.skipIf(apidoc === undefined)(`requests against Proxmox's schema (skipped when ${schemaReason})`, () => {
  it("a request that the schema does not allow is detected", () => {
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

  it("the whole life of a machine conforms to the schema", async () => {
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

  for (const auth of ["token", "password"] as const)
    it(`every change of access conforms to the schema, by ${auth}`, async () => {
      const rig = makeRig()
      const root = { type: "password", username: "root@pam", password: Redacted.make(rig.sim.rootPassword) } as const
      const service = auth === "token" ? rig : rig.as({ auth: root })
      await service.run(
        Effect.gen(function* () {
          const access = yield* HypervisorAccess
          for (const change of accessChanges) yield* access.apply(change, Redacted.make("a good password"))
          yield* access.observe(undefined)
        }),
      )
      await rig.close()
    })
})
