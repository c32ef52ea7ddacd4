import { Hypervisor, HypervisorAccess, type MachineAction, type Sought } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { handlerTransport, type PveTransport } from "@rangewright/adapter-proxmox"
import { asRoot, makeRig, type Rig, tokenAuth } from "./support/rig.ts"
import { cloneOf, deleteOf, perform, rangeId, reasonOf, refOf, startOf } from "./support/under-test.ts"

/** Answers of the list of VMs are empty, as while a node's cluster file system starts anew. */
const emptyLists = (rig: Rig): PveTransport => {
  const real = handlerTransport(rig.sim.handle)
  return {
    send: async (request, signal) =>
      request.path.startsWith("/api2/json/cluster/resources")
        ? { status: 200, statusText: "", body: new TextEncoder().encode('{"data":[]}') }
        : real.send(request, signal),
  }
}

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

/** The same cluster, seen by an account with these privileges on these paths. */
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

describe("a VM that is asked for by itself", () => {
  it("is there, where it was last seen or where it is now, and with its power, whatever lists say", async () => {
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

  it("is absent when no node has it", async () => {
    const rig = await withMachine(deleteOf(refOf({ node: "pve1" })))
    for (const from of ["pve1", undefined, "a-node-that-left"]) expect(await seek(rig, from)).toEqual({ type: "absent" })
    await rig.close()
  })

  it("is in doubt while its node, or one that it may have moved to, is silent", async () => {
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

  it("is in doubt for an account that may not see it, which so never takes it for absent", async () => {
    const rig = await withMachine()
    const blind = await asAccount(rig, { "/pool": "Pool.Audit" })
    expect(await seek(blind)).toMatchObject({ type: "unknown", why: expect.stringContaining("VM.Audit") as string })
    expect(await blindness(blind)).toContain("lacks VM.Audit on /vms,")
    await rig.close()
  })
})

describe("what the service may not see", () => {
  it("is nothing for an account with the rights, on a cluster with its votes", async () => {
    const rig = await withMachine()
    expect(await blindness(rig)).toBeUndefined()
    expect(await blindness(await asAccount(rig, { "/": "Sys.Audit", "/vms": "VM.Audit", "/pool": "Pool.Audit" }))).toBeUndefined()
    await rig.close()
  })

  it("is anything where rights are missing or votes are lost", async () => {
    const rig = await withMachine()
    expect(await blindness(await asAccount(rig, {}))).toContain("lacks VM.Audit on /vms and Pool.Audit on /pool")
    rig.sim.faults.add({ kind: "quorum-lost" })
    expect(await blindness(rig)).toContain("votes")
    await rig.close()
  })
})

describe("a change to a VM that moved while lists are empty", () => {
  it("is made where the VM is: it is neither taken for gone nor made again", async () => {
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
