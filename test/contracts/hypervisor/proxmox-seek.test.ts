import {
  Hypervisor,
  HypervisorAccess,
  type MachineAction,
  NetworkMigration,
  type NetworkMigrationAction,
  type Sought,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { handlerTransport, type PveTransport } from "@rangewright/adapter-proxmox"
import { asRoot, makeRig, type Rig, tokenAuth } from "./support/rig.ts"
import { cloneOf, configureOf, deleteOf, perform, rangeId, reasonOf, refOf, startOf } from "./support/under-test.ts"

interface Falsehood {
  /** The path prefix of the calls that are answered falsely. */
  readonly to: string
  readonly status?: number
  readonly body: object
}

/** The simulator's answers, except for some calls, chosen at each call. */
const lying = (rig: Rig, falsehoods: () => readonly Falsehood[]): PveTransport => {
  const real = handlerTransport(rig.sim.handle)
  return {
    send: async (request, signal) => {
      const found = falsehoods().find(({ to }) => request.path.startsWith(`/api2/json${to}`))
      if (found === undefined) return real.send(request, signal)
      return { status: found.status ?? 200, statusText: "", body: new TextEncoder().encode(JSON.stringify(found.body)) }
    },
  }
}
const listing = (...data: readonly object[]): Falsehood => ({ to: "/cluster/resources", body: { data } })
const numberIsFree: Falsehood = { to: "/cluster/nextid", body: { data: "20001" } }
const numberIsInUse: Falsehood = {
  to: "/cluster/nextid",
  status: 400,
  body: { data: null, message: "Parameter verification failed.\n", errors: { vmid: "VM 20001 already exists\n" } },
}
const noNodeHasIt: readonly Falsehood[] = ["pve1", "pve2", "pve3"].map((node) => ({
  to: `/nodes/${node}/qemu/20001/`,
  status: 500,
  body: { data: null, message: `Configuration file 'nodes/${node}/qemu-server/20001.conf' does not exist\n` },
}))

/** The list of VMs is empty, as while a node's cluster file system restarts. */
const emptyLists = (rig: Rig): PveTransport => lying(rig, () => [listing()])

const withMachine = async (...then: readonly MachineAction[]): Promise<Rig> => {
  const rig = makeRig({ nodes: 3 })
  await rig.run(
    Effect.gen(function* () {
      yield* HypervisorAccess.use((access) => access.ensurePool(rangeId))
      for (const action of [cloneOf(rig, refOf(rig)), ...then]) yield* perform(action)
    }),
  )
  return rig
}
const move = (rig: Rig, from: string, to: string): Effect.Effect<void> =>
  Effect.andThen(
    Effect.promise(() => asRoot(rig.sim, "POST", `/nodes/${from}/qemu/20001/migrate`, `target=${to}&online=1`)),
    Effect.sleep("60 seconds"),
  )
const seek = (rig: Rig, lastSeenOn: string | undefined = "pve1"): Promise<Sought> =>
  rig.run(Hypervisor.use((hypervisor) => hypervisor.seek(refOf(rig).vmid, lastSeenOn)))
const blindness = (rig: Rig) => rig.run(Hypervisor.use((hypervisor) => hypervisor.blindness))

/** The same cluster as an account with these privileges on these paths sees it. */
const asAccount = async (rig: Rig, rights: Readonly<Record<string, string>>): Promise<Rig> => {
  await asRoot(rig.sim, "POST", "/access/users", "userid=svc@pve")
  const made = await asRoot(rig.sim, "POST", "/access/users/svc@pve/token/t1", "privsep=0")
  const { value } = (JSON.parse(made) as { readonly data: { readonly value: string } }).data
  for (const [path, privileges] of Object.entries(rights)) {
    const role = `R${path.replaceAll("/", "x")}`
    await asRoot(rig.sim, "POST", "/access/roles", `roleid=${role}&privs=${encodeURIComponent(privileges)}`)
    await asRoot(rig.sim, "PUT", "/access/acl", `path=${encodeURIComponent(path)}&roles=${role}&users=svc@pve`)
  }
  return rig.as({ auth: tokenAuth(`svc@pve!t1=${value}`) })
}

describe("a single VM that is looked up", () => {
  it("is found, where it was last seen or where it is now, with its power, whatever lists say", async () => {
    const rig = await withMachine(startOf(refOf({ node: "pve1" })))
    const blinded = rig.as({ transport: emptyLists(rig) })
    expect(await seek(rig)).toEqual({ type: "there", node: "pve1", power: "running" })
    expect(await seek(blinded)).toEqual({ type: "there", node: "pve1", power: "running" })
    await rig.run(move(rig, "pve1", "pve3"))
    for (const each of [rig, blinded])
      for (const from of ["pve1", "pve2", undefined, "a-node-that-left"])
        expect(await seek(each, from)).toEqual({ type: "there", node: "pve3", power: "running" })
    await rig.close()
  })

  it("is paused while it is paused, although its node says that it runs", async () => {
    const rig = await withMachine(startOf(refOf({ node: "pve1" })))
    await asRoot(rig.sim, "POST", "/nodes/pve1/qemu/20001/status/suspend", "")
    await rig.run(Effect.sleep("10 seconds"))
    expect(await seek(rig)).toEqual({ type: "there", node: "pve1", power: "paused" })
    await rig.close()
  })

  it("is absent when no node has it", async () => {
    const rig = await withMachine(deleteOf(refOf({ node: "pve1" })))
    for (const from of ["pve1", undefined, "a-node-that-left"]) expect(await seek(rig, from)).toEqual({ type: "absent" })
    await rig.close()
  })

  it("is in doubt while its node, or one that it may have moved to, is unreachable", async () => {
    const rig = await withMachine()
    rig.sim.faults.add({ kind: "node-down", node: "pve1" })
    expect(await seek(rig)).toMatchObject({
      type: "unknown",
      why: expect.stringContaining("node pve1 cannot be reached") as string,
    })
    rig.sim.faults.clear()
    await rig.run(move(rig, "pve1", "pve3"))
    rig.sim.faults.add({ kind: "node-down", node: "pve3" })
    expect((await seek(rig.as({ transport: emptyLists(rig) }))).type).toBe("unknown")
    await rig.close()
  })

  it("is in doubt while its VMID is in use and no node has it: it may be migrating, or be a container that lists do not show", async () => {
    const rig = await withMachine(deleteOf(refOf({ node: "pve1" })))
    const row = { id: "qemu/20001", type: "qemu", vmid: 20_001, status: "stopped" }
    const contradictions: readonly (readonly [Falsehood, string])[] = [
      [listing(), "its VMID is in use, but no node has it"],
      [listing({ ...row, node: "pve1" }), "the cluster lists it on node pve1, which does not have it"],
      [listing({ ...row, node: "pve2" }), "the cluster lists it on node pve2, which does not have it"],
    ]
    for (const [list, why] of contradictions)
      for (const from of ["pve1", undefined, "a-node-that-left"])
        expect(await seek(rig.as({ transport: lying(rig, () => [list, numberIsInUse]) }), from)).toEqual({ type: "unknown", why })
    await rig.close()
  })

  it("is absent if a container has its VMID now", async () => {
    const rig = await withMachine(deleteOf(refOf({ node: "pve1" })))
    const container = listing({ id: "lxc/20001", type: "lxc", vmid: 20_001, status: "stopped", node: "pve1" })
    const transport = lying(rig, () => [container, numberIsInUse])
    for (const from of ["pve1", undefined]) expect(await seek(rig.as({ transport }), from)).toEqual({ type: "absent" })
    await rig.close()
  })

  it("is in doubt for an account that may not see it, and thus never taken for absent", async () => {
    const rig = await withMachine()
    const blind = await asAccount(rig, { "/pool": "Pool.Audit" })
    expect(await seek(blind)).toMatchObject({ type: "unknown", why: expect.stringContaining("VM.Audit") as string })
    expect(await blindness(blind)).toContain("lacks VM.Audit on /vms,")
    await rig.close()
  })
})

describe("invisible VMs", () => {
  it("are impossible for an account with the rights, on a quorate cluster", async () => {
    const rig = await withMachine()
    expect(await blindness(rig)).toBeUndefined()
    expect(await blindness(await asAccount(rig, { "/": "Sys.Audit", "/vms": "VM.Audit", "/pool": "Pool.Audit" }))).toBeUndefined()
    await rig.close()
  })

  it("are possible while rights are missing or quorum is lost", async () => {
    const rig = await withMachine()
    expect(await blindness(await asAccount(rig, {}))).toContain("lacks VM.Audit on /vms and Pool.Audit on /pool")
    rig.sim.faults.add({ kind: "quorum-lost" })
    expect(await blindness(rig)).toContain("quorum")
    await rig.close()
  })
})

describe("a change to a VM that moved while lists are empty", () => {
  it("is made where the VM is: it is neither taken for gone nor created again", async () => {
    const rig = await withMachine()
    await rig.run(move(rig, "pve1", "pve3"))
    const blinded = rig.as({ transport: emptyLists(rig) })
    await blinded.run(perform(startOf(refOf(rig))))
    expect(rig.sim.guest(20_001)).toMatchObject({ node: "pve3", status: "running" })
    await blinded.run(perform(cloneOf(rig, refOf(rig))))
    rig.sim.faults.add({ kind: "node-down", node: "pve3" })
    expect(await blinded.run(reasonOf(perform(deleteOf(refOf(rig)))))).toBe("away")
    expect(await blinded.run(reasonOf(perform(cloneOf(rig, refOf(rig)))))).toBe("away")
    expect(rig.sim.guest(20_001)).toBeDefined()
    await rig.close()
  })
})

describe("a VM that is to be deleted and is not found", () => {
  const faultOf = (rig: Rig, transport: PveTransport): Promise<{ readonly reason: string; readonly detail: string }> =>
    rig
      .as({ transport })
      .run(Effect.map(Effect.flip(perform(deleteOf(refOf(rig)))), ({ facts: { reason, detail } }) => ({ reason, detail })))

  it("is gone if it is not found a second time some seconds later", async () => {
    const rig = await withMachine(deleteOf(refOf({ node: "pve1" })))
    const before = rig.sim.clock.now()
    await rig.run(perform(deleteOf(refOf(rig))))
    expect(rig.sim.clock.now() - before).toBeGreaterThanOrEqual(5000)
    await rig.close()
  })

  it("is not taken for gone if it is found the second time: the node's cluster file system had restarted", async () => {
    const rig = await withMachine()
    const start = rig.sim.clock.now()
    const transport = lying(rig, () => (rig.sim.clock.now() === start ? [listing(), numberIsFree, ...noNodeHasIt] : []))
    expect(await faultOf(rig, transport)).toEqual({
      reason: "locked",
      detail: "it was not found at first, but is on node pve1",
    })
    await rig.run(perform(deleteOf(refOf(rig))))
    expect(rig.sim.guest(20_001)).toBeUndefined()
    await rig.close()
  })

  it("is not taken for gone if its task failed and the node knows no VM at that moment", async () => {
    const rig = await withMachine()
    rig.sim.faults.add({ kind: "fail-task", type: "qmdestroy", when: "before", text: "the cluster file system is not there" })
    let failedAt: number | undefined
    const transport = lying(rig, () => {
      const failed = [...rig.sim.state.tasks.values()].some(({ type, endtime }) => type === "qmdestroy" && endtime !== undefined)
      if (failed) failedAt ??= rig.sim.clock.now()
      return failedAt === rig.sim.clock.now() ? [listing(), numberIsFree, ...noNodeHasIt] : []
    })
    expect(await faultOf(rig, transport)).toEqual({
      reason: "locked",
      detail: "it was not found at first, but is on node pve1",
    })
    expect(rig.sim.guest(20_001)).toBeDefined()
    await rig.close()
  })

  it("is not taken for gone while its VMID is in use, or while the service may not see it", async () => {
    const rig = await withMachine(deleteOf(refOf({ node: "pve1" })))
    expect(
      await faultOf(
        rig,
        lying(rig, () => [numberIsInUse]),
      ),
    ).toEqual({
      reason: "locked",
      detail: "its VMID is in use, but no node has it",
    })
    const start = rig.sim.clock.now()
    expect(
      await faultOf(
        rig,
        lying(rig, () => (rig.sim.clock.now() === start ? [] : [numberIsInUse])),
      ),
    ).toEqual({
      reason: "locked",
      detail: "it is not certain that the VM is gone: its VMID is in use, but no node has it",
    })
    rig.sim.faults.add({ kind: "quorum-lost" })
    expect((await faultOf(rig, handlerTransport(rig.sim.handle))).detail).toContain("the cluster has lost quorum")
    await rig.close()
  })
})

describe("a VM that a migration of networks does not find", () => {
  const migrate = (action: NetworkMigrationAction) =>
    NetworkMigration.use((migration) =>
      Effect.flatMap(migration.dispatch(action), ({ token, gone }) => Effect.as(migration.settle(action, token), gone === true)),
    )
  const faultOf = (rig: Rig, transport: PveTransport, action: NetworkMigrationAction) =>
    rig.as({ transport }).run(Effect.map(Effect.flip(migrate(action)), ({ facts: { reason, detail } }) => ({ reason, detail })))
  const { vmid, mark } = refOf({ node: "pve1" })
  const moveNics: NetworkMigrationAction = {
    kind: "move-nics",
    vmid,
    node: "pve1",
    name: mark.machine,
    guard: { type: "mark", mark },
    nics: [{ nic: "net0", from: "vmbr1000", to: "r1" }],
  }
  const verifyMachines: NetworkMigrationAction = {
    kind: "verify-machines",
    node: "pve1",
    machines: [vmid],
    leaving: ["vmbr1000"],
  }

  it.each([moveNics, verifyMachines])(
    "is not taken for gone by $kind: the node's cluster file system had restarted",
    async (action) => {
      const rig = await withMachine(configureOf(refOf({ node: "pve1" })))
      const start = rig.sim.clock.now()
      const transport = lying(rig, () => (rig.sim.clock.now() === start ? [listing(), numberIsFree, ...noNodeHasIt] : []))
      expect(await faultOf(rig, transport, action)).toEqual({
        reason: "locked",
        detail: "it was not found at first, but is on node pve1",
      })
      await rig.close()
    },
  )

  it("is found by verify-machines on another node", async () => {
    const rig = await withMachine(configureOf(refOf({ node: "pve1" })))
    await rig.run(move(rig, "pve1", "pve3"))
    const { detail } = await faultOf(rig, handlerTransport(rig.sim.handle), verifyMachines)
    expect(detail).toContain("net0 of VM 20001 is still attached")
    await rig.close()
  })

  it("is gone if it is not found a second time some seconds later", async () => {
    const rig = await withMachine(deleteOf(refOf({ node: "pve1" })))
    expect(await rig.run(migrate(moveNics))).toBe(true)
    expect(await rig.run(migrate(verifyMachines))).toBe(false)
    await rig.close()
  })

  it("keeps its bridge while the service cannot be sure that it sees all machines", async () => {
    const rig = await withMachine(configureOf(refOf({ node: "pve1" })))
    const cutOff: Falsehood = { to: "/cluster/status", body: { data: [{ type: "cluster", name: "lab", quorate: 0 }] } }
    await asRoot(rig.sim, "POST", "/nodes/pve1/network", "iface=vmbr1001&type=bridge")
    const removal: NetworkMigrationAction = { kind: "remove-bridge", node: "pve1", bridge: "vmbr1001" }
    const fault = await faultOf(
      rig,
      lying(rig, () => [listing(), cutOff]),
      removal,
    )
    expect(fault).toMatchObject({ reason: "locked", detail: expect.stringContaining("quorum") as string })
    await rig.close()
  })
})
