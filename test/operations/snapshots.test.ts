import type { MemoryVm } from "@rangewright/adapter-memory"
import type { HandlerRequest } from "@rangewright/application"
import type { Range, User, Vmid } from "@rangewright/domain"
import { beingTold } from "@rangewright/ports"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

interface Outcome {
  readonly success?: readonly number[]
  readonly errors?: readonly { readonly vmid?: number; readonly vmname?: string; readonly error: string }[]
  readonly warnings?: readonly unknown[]
  readonly runID?: string
}
interface Listed {
  readonly snapshots?: readonly {
    readonly name: string
    readonly vmid: number
    readonly vmname?: string
    readonly parent?: string
    readonly description: string
    readonly includesRAM: boolean
    readonly snaptime?: number
  }[]
  readonly errors?: readonly { readonly vmid?: number; readonly error: string }[]
}

describe("snapshots of a range", () => {
  let service: RangeService
  let ada: User
  let range: Range
  const call = (id: string, request?: Partial<HandlerRequest>) => service.call(id, ada, request)
  const take = async (body: object) => (await call("snapshotsTake", { body })) as Outcome
  const rollBack = async (body: object) => (await call("snapshotsRollback", { body })) as Outcome
  const remove = async (body: object) => (await call("snapshotsRemove", { body })) as Outcome
  const list = async (query: object = {}) => (await call("getSnapshots", { query: { ...query } })) as Listed
  const machines = () =>
    [...service.lab.world.vms.values()].filter(({ pool }) => pool === range.id).toSorted((a, b) => a.vmid - b.vmid)
  const vmids = () => machines().map(({ vmid }) => vmid)
  const change = (vmid: Vmid, what: Partial<MemoryVm>) =>
    service.lab.world.vms.set(vmid, { ...service.lab.world.vms.get(vmid)!, ...what })
  const named = (part: string) => machines().find(({ name }) => name.includes(part))!
  const held = () => machines().map(({ snapshots = [] }) => snapshots.map(({ name }) => name).join())
  const kindsCalled = () => service.lab.world.calls.filter(({ port }) => port === "hypervisor").map(({ method }) => method)
  /** Does something as soon as the hypervisor is asked for an action of this kind; returns its result. */
  const during = (kind: string, act: () => Promise<unknown>) => {
    let begun: Promise<unknown> | undefined
    service.lab.world.fault = ({ method, action }) => {
      if (method === "dispatch" && action?.kind === kind) begun ??= act().catch((fault: unknown) => fault)
      return undefined
    }
    return async () => {
      service.lab.world.fault = () => undefined
      return begun
    }
  }
  const statusOf = async ({ runID }: Outcome) =>
    ((await call("getRun", { path: { runID } })) as { readonly status: string }).status

  beforeEach(async () => {
    service = makeRangeService()
    ada = await service.addUser("Ada")
    await call("createRange", { body: { name: "Lab", rangeID: "LAB" } })
    await service.putConfig(ada, await service.find("LAB"), service.lab.config)
    range = await service.find("LAB")
    await service.deploy(ada, range)
  })
  afterEach(() => service.close())

  it("are taken of all machines including the router, and listed without asking the hypervisor", async () => {
    const told = await take({ name: "clean", description: "As delivered", includeRAM: true })
    expect(told).toEqual({ success: vmids(), runID: expect.any(String) })
    service.lab.world.calls.length = 0
    const { snapshots = [], errors } = await list()
    expect(kindsCalled()).toEqual([])
    expect(errors).toBeUndefined()
    expect(snapshots.filter(({ name }) => name === "clean")).toHaveLength(vmids().length)
    for (const { vmid, name } of machines()) {
      expect(snapshots.filter((one) => one.vmid === vmid)).toEqual([
        { name: "clean", description: "As delivered", includesRAM: true, snaptime: expect.any(Number), vmid, vmname: name },
        { name: "current", description: "You are here!", includesRAM: false, parent: "clean", vmid, vmname: name },
      ])
    }
  })

  it("have no parent that is missing from the list, whatever the hypervisor says", async () => {
    await take({ name: "first" })
    await take({ name: "second" })
    const web = named("web")
    change(web.vmid, {
      snapshots: (web.snapshots ?? []).map((one) => ({ ...one, parent: "lost" })),
      parent: "lost",
    })
    const { snapshots = [] } = await list({ vmids: String(web.vmid), refresh: true })
    expect(snapshots.map(({ name, parent }) => [name, parent])).toEqual([
      ["first", undefined],
      ["second", undefined],
      ["current", undefined],
    ])
  })

  it("may be four hundred of a machine: each is listed with its parent, one more is taken, and the first is rolled back to", async () => {
    const web = named("web")
    const nameOf = (i: number) => `day-${i}`
    const many = Array.from({ length: 400 }, (_, i) => ({
      name: nameOf(i),
      description: "",
      takenAt: i,
      memory: false,
      incomplete: false,
      kept: { ...web },
      ...(i === 0 ? {} : { parent: nameOf(i - 1) }),
    }))
    change(web.vmid, { snapshots: many, parent: nameOf(399) })
    const { snapshots = [] } = await list({ vmids: String(web.vmid), refresh: true })
    expect(snapshots.map(({ parent }) => parent)).toEqual([undefined, ...many.map(({ name }) => name)])
    expect(await take({ name: "newest", vmids: [web.vmid] })).toMatchObject({ success: [web.vmid] })
    expect(await rollBack({ name: "day-0", vmids: [web.vmid] })).toMatchObject({ success: [web.vmid] })
    expect(service.lab.world.vms.get(web.vmid)).toMatchObject({ parent: "day-0", power: "running" })
  })

  it("that somebody took at the hypervisor appear after a refresh", async () => {
    const web = named("web")
    const kept = { ...web, stages: web.stages }
    const byHand = { name: "byhand", description: "x", takenAt: 5, memory: false, incomplete: false, kept }
    change(web.vmid, { snapshots: [byHand], parent: "byhand" })
    expect((await list()).snapshots?.map(({ name }) => name)).not.toContain("byhand")
    expect((await list({ refresh: true })).snapshots?.map(({ name }) => name)).toContain("byhand")
    expect((await list()).snapshots?.map(({ name }) => name)).toContain("byhand")
  })

  it.each([
    ["none", (n: number) => n],
    ["all but it", (n: number) => n - 1],
  ])("a failure of any machine leaves %s with a snapshot, as requested, and the answer is right for each", async (what) => {
    const { world } = service.lab
    for (const [k, failing] of vmids().entries()) {
      world.fault = ({ method, action }) =>
        method === "dispatch" && action?.kind === "take-snapshot" && action.machine.vmid === failing
          ? { when: "before", reason: "failed" }
          : undefined
      const atomic = what === "none"
      const told = await take({ name: `try-${k}`, atomic })
      world.fault = () => undefined
      const others = vmids().filter((vmid) => vmid !== failing)
      const has = machines().flatMap(({ vmid, snapshots = [] }) =>
        snapshots.some(({ name }) => name === `try-${k}`) ? [vmid] : [],
      )
      if (atomic) {
        expect(has).toEqual([])
        expect(told.success).toBeUndefined()
        expect(told.errors?.map(({ vmid }) => vmid)).toEqual(vmids())
        expect(told.errors?.filter(({ error }) => error.includes("was removed again")).map(({ vmid }) => vmid)).toEqual(others)
        expect(await statusOf(told)).toBe("failure")
      } else {
        expect(has).toEqual(others)
        expect(told.success).toEqual(others)
        expect(told.errors).toEqual([
          { vmid: failing, vmname: expect.any(String), error: expect.stringContaining("told to fail") },
        ])
        expect(await statusOf(told)).toBe("partial")
      }
      const names = (await list()).snapshots?.filter(({ name }) => name === `try-${k}`).map(({ vmid }) => vmid)
      expect(names).toEqual(has)
    }
  })

  it.each([true, false])(
    "a failure after the snapshot of any machine was taken leaves none, or says that it exists (all or none: %s)",
    async (atomic) => {
      const { world } = service.lab
      for (const [k, failing] of vmids().entries()) {
        const name = `after-${k}`
        world.fault = ({ method, action }) =>
          method === "dispatch" && action?.kind === "take-snapshot" && action.machine.vmid === failing
            ? { when: "after", reason: "failed" }
            : undefined
        const told = await take({ name, atomic })
        world.fault = () => undefined
        const has = machines().flatMap(({ vmid, snapshots = [] }) => (snapshots.some((one) => one.name === name) ? [vmid] : []))
        expect(has).toEqual(atomic ? [] : vmids())
        if (!atomic) expect(told.success).toEqual(vmids().filter((vmid) => vmid !== failing))
        const own = told.errors?.find(({ vmid }) => vmid === failing)?.error
        expect(own?.includes(`Its snapshot ${name} is there all the same`)).toBe(!atomic)
        const shown = (await list()).snapshots?.filter((one) => one.name === name).map(({ vmid }) => vmid)
        expect(shown).toEqual(has)
      }
    },
  )

  it.each([true, false])("a lost answer for any machine does not change the result (all or none: %s)", async (atomic) => {
    const { world } = service.lab
    for (const [k, failing] of vmids().entries()) {
      let isLost = false
      world.fault = ({ method, action }) => {
        if (isLost || method !== "dispatch" || action?.kind !== "take-snapshot" || action.machine.vmid !== failing)
          return undefined
        isLost = true
        return { when: "after", reason: "unknown-effect" }
      }
      const told = await take({ name: `lost-${k}`, atomic })
      if (told.runID !== undefined) await service.end(ada, told.runID)
      expect(await statusOf(told)).toBe("success")
      expect(held().filter((names) => names.split(",").filter((name) => name === `lost-${k}`).length !== 1)).toEqual([])
    }
  })

  it("a snapshot whose removal fails too is reported as existing", async () => {
    const { world } = service.lab
    const [first, second] = vmids()
    world.fault = ({ method, action }) =>
      method === "dispatch" &&
      ((action?.kind === "take-snapshot" && action.machine.vmid === first) ||
        (action?.kind === "remove-snapshot" && action.machine.vmid === second))
        ? { when: "before", reason: "failed" }
        : undefined
    const told = await take({ name: "clean", atomic: true })
    expect(told.success).toBeUndefined()
    expect(told.errors?.find(({ vmid }) => vmid === second)?.error).toMatch(/is there, and could not be removed again/u)
    expect(held().filter((names) => names === "clean")).toHaveLength(1)
  })

  it("all or none ends although the hypervisor stays unreachable, and possible remains are reported", async () => {
    const { world, clock } = service.lab
    const [lost, ...others] = vmids()
    let awaySince: number | undefined
    world.fault = ({ method, action }) => {
      if (action?.kind === "remove-snapshot") awaySince ??= clock.now()
      if (awaySince !== undefined) return { when: "before", reason: "away" }
      // it is taken, but the run does not learn of it
      const isLost = method === "dispatch" && action?.kind === "take-snapshot" && action.machine.vmid === lost
      return isLost ? { when: "after", reason: "failed" } : undefined
    }
    const told = await take({ name: "clean", atomic: true })
    const waitedSeconds = (clock.now() - (awaySince ?? 0)) / 1000
    expect(waitedSeconds).toBeGreaterThanOrEqual(100)
    expect(waitedSeconds).toBeLessThan(180)
    world.fault = () => undefined
    expect(await statusOf(told)).toBe("failure")
    expect(told.success).toBeUndefined()
    const errorOf = (vmid: number) => told.errors?.find((one) => one.vmid === vmid)?.error
    expect(errorOf(lost!)).toMatch(/snapshot clean may be there, and could not be removed again/u)
    for (const vmid of others) expect(errorOf(vmid)).toMatch(/snapshot clean is there, and could not be removed again/u)
    expect(held()).toEqual(vmids().map(() => "clean"))
    expect(await remove({ name: "clean" })).toMatchObject({ success: vmids() })
  })

  it("all or none checks every machine before it changes one", async () => {
    change(named("web").vmid, { keepsSnapshots: false })
    service.lab.world.calls.length = 0
    const told = await take({ name: "clean", atomic: true })
    expect(told.errors).toHaveLength(vmids().length)
    expect(service.lab.world.calls.some(({ mutating }) => mutating)).toBe(false)
    const some = await take({ name: "clean" })
    expect(some.success).toHaveLength(vmids().length - 1)
    expect(some.errors).toEqual([expect.objectContaining({ error: expect.stringContaining("does not support snapshots") })])
  })

  it("a name in use, or a locked machine, is reported for that machine", async () => {
    const web = named("web")
    await take({ name: "clean", vmids: [web.vmid] })
    change(named("router").vmid, { lock: "backup" })
    const told = await take({ name: "clean" })
    expect(told.success).toHaveLength(vmids().length - 2)
    expect(told.errors?.map(({ error }) => error).join()).toMatch(/has a snapshot clean already/u)
    expect(told.errors?.map(({ error }) => error).join()).toMatch(/locked on the hypervisor \(backup\)/u)
  })

  it.each(["", "a", "current", "x".repeat(41), "schnäppchen", "a\nb", "-rf", "$(id)", "%2e%2e"])(
    "an invalid name %j changes nothing, and each machine has the reason",
    async (name) => {
      service.lab.world.calls.length = 0
      for (const act of [take, rollBack, remove]) {
        const told = await act({ name })
        expect(told.success).toBeUndefined()
        expect(told.errors?.map(({ vmid }) => vmid)).toEqual(vmids())
        expect(told.errors?.every(({ error }) => /name/u.test(error))).toBe(true)
      }
      expect(service.lab.world.calls).toEqual([])
    },
  )

  it("machines of other ranges, templates and unknown VMs are refused without revealing anything about them", async () => {
    const [own] = vmids()
    const others = [9001, 9002, 77_777, -1, 0]
    const foreign = { ...named("web"), vmid: 9100 as Vmid, pool: "OTHER", name: "secret" }
    service.lab.world.vms.set(foreign.vmid, foreign)
    const told = await take({ name: "clean", vmids: [own, own, String(own), ...others, 9100] })
    expect(told.success).toEqual([own])
    expect(told.errors?.map(({ vmid, error }) => [vmid, error])).toEqual(
      [...others, 9100].map((vmid) => [vmid, `VM ${vmid} is not a machine of range LAB`]),
    )
    expect(JSON.stringify(told)).not.toContain("secret")
    expect(await take({ name: "later", vmids: [own, 9100], atomic: true })).toEqual({
      errors: [
        { vmid: 9100, error: "VM 9100 is not a machine of range LAB" },
        expect.objectContaining({ vmid: own, error: expect.stringContaining("all or none were requested") }),
      ],
    })
    expect(held().join()).not.toContain("later")
    expect(await list({ vmids: `9100,abc,${own}` })).toMatchObject({
      snapshots: [{ vmid: own }, { vmid: own }],
      errors: [{ error: '"abc" is not a VMID' }, { vmid: 9100 }],
    })
    expect(await list({ vmids: "abc" })).toEqual({ errors: [{ error: '"abc" is not a VMID' }] })
  })

  it("rollback restores machines but keeps their current hardware, and starts those that ran", async () => {
    const { world } = service.lab
    await take({ name: "clean" })
    const [web, kali] = [named("web"), machines().find(({ name }) => !/web|router/u.test(name))!]
    const nics = web.nics.map((nic) => ({ ...nic, bridge: "vnet9" }))
    change(web.vmid, { nics, cpus: 7, tags: ["moved"] })
    change(kali.vmid, { power: "stopped", agentAt: undefined })
    world.calls.length = 0
    const told = await rollBack({ name: "clean" })
    expect(told).toEqual({ success: vmids(), runID: expect.any(String) })
    expect(world.vms.get(web.vmid)).toMatchObject({ nics, cpus: 7, tags: ["moved"], power: "running", parent: "clean" })
    expect(world.vms.get(kali.vmid)).toMatchObject({ power: "stopped", parent: "clean" })
    const done = world.calls.flatMap(({ method, action }) =>
      method === "dispatch" && action !== undefined && "machine" in action && action.machine.vmid === web.vmid
        ? [action.kind]
        : [],
    )
    expect(done).toEqual(["roll-back", "configure", "start"])
    const backs = world.calls.flatMap(({ method, action }) =>
      method === "dispatch" && action?.kind === "roll-back" ? [action.machine.vmid] : [],
    )
    expect(backs.at(-1)).toBe(named("router").vmid)
  })

  it.each(["roll-back", "configure"])(
    "an abort during the %s leaves no machine with the hardware of the snapshot",
    async (kind) => {
      const { world } = service.lab
      await take({ name: "clean" })
      const web = named("web")
      const nics = web.nics.map((nic) => ({ ...nic, bridge: "vnet9" }))
      change(web.vmid, { nics, cpus: 7, tags: ["moved"] })
      const aborted = during(kind, () => call("abortRange"))
      const told = await rollBack({ name: "clean", vmids: [web.vmid] })
      await aborted()
      expect(await statusOf(told)).toBe("aborted")
      expect(world.vms.get(web.vmid)).toMatchObject({ nics, cpus: 7, tags: ["moved"], power: "stopped", parent: "clean" })
    },
  )

  it("a machine whose hardware cannot be restored is not started, and the answer says which network cards it has until a deploy", async () => {
    const web = named("web")
    change(web.vmid, { nics: web.nics.map((nic) => ({ ...nic, bridge: "vnet9" })) })
    await take({ name: "clean", vmids: [web.vmid] })
    change(web.vmid, { nics: web.nics })
    expect(await call("planRange")).toMatchObject({ steps: [] })
    service.lab.world.fault = ({ method, action }) =>
      method === "dispatch" && action?.kind === "configure" ? { when: "before", reason: "failed" } : undefined
    const told = await rollBack({ name: "clean", vmids: [web.vmid] })
    service.lab.world.fault = () => undefined
    expect(told.success).toBeUndefined()
    expect(told.errors).toEqual([expect.objectContaining({ vmid: web.vmid })])
    const error = told.errors?.[0]?.error
    expect(error).toContain(`VM ${web.vmid} (${web.name})`)
    expect(error).toContain("net0 on vnet9, tag 20")
    expect(service.lab.world.vms.get(web.vmid)?.power).toBe("stopped")
    await service.deploy(ada, range)
    expect(service.lab.world.vms.get(web.vmid)).toMatchObject({ nics: web.nics, power: "running" })
  })

  it("a machine's stages are forgotten even if its hardware cannot be restored after the rollback", async () => {
    const web = named("web")
    const stages = service.lab.store.stages.get(range.id)?.get(web.vmid)
    const [key] = stages?.keys() ?? []
    const known = stages?.get(key ?? "")
    stages?.set(key ?? "", "something older")
    await take({ name: "older", vmids: [web.vmid] })
    service.lab.store.stages
      .get(range.id)
      ?.get(web.vmid)
      ?.set(key ?? "", known ?? "")
    change(web.vmid, { cpus: 7 })
    service.lab.world.fault = ({ method, action }) =>
      method === "dispatch" && action?.kind === "configure" ? { when: "before", reason: "failed" } : undefined
    await rollBack({ name: "older", vmids: [web.vmid] })
    expect(
      service.lab.store.stages
        .get(range.id)
        ?.get(web.vmid)
        ?.get(key ?? ""),
    ).toBe("something older")
  })

  describe("a rollback aborted while the hypervisor is unreachable, before the hardware is restored", () => {
    const extra = { index: 3, model: "virtio", mac: "02:00:00:00:00:03", bridge: "vmbr9", tag: undefined, firewall: false }
    let web: MemoryVm

    beforeEach(async () => {
      const { world } = service.lab
      web = named("web")
      change(web.vmid, { cpus: 7, nics: [...web.nics.map((nic) => ({ ...nic, bridge: "vnet9" })), extra] })
      await take({ name: "clean", vmids: [web.vmid] })
      change(web.vmid, { cpus: web.cpus, nics: web.nics, power: "stopped", agentAt: undefined })
      world.fault = ({ method, action }) =>
        method === "dispatch" && action?.kind === "configure" ? { when: "before", reason: "away" } : undefined
      const told = await rollBack({ name: "clean", vmids: [web.vmid] })
      expect(told.errors).toEqual([expect.objectContaining({ vmid: web.vmid })])
      await call("abortRange")
      await service.end(ada, told.runID!)
      world.fault = () => undefined
      expect(world.vms.get(web.vmid)).toMatchObject({ cpus: 7, power: "stopped" })
    })

    const isAsItWas = () => {
      expect(service.lab.world.vms.get(web.vmid)).toMatchObject({ cpus: web.cpus, nics: web.nics })
      expect(service.lab.store.owed.get(range.id)?.size).toBe(0)
    }

    it("is completed by the next rollback, which does not mistake the snapshot's hardware for the machine's own", async () => {
      expect(await rollBack({ name: "clean", vmids: [web.vmid] })).toMatchObject({ success: [web.vmid] })
      isAsItWas()
    })

    it("is completed before the machine is powered on", async () => {
      service.lab.world.calls.length = 0
      await call("powerOnRange", { body: { machines: [web.name] } })
      const begun = service.lab.world.calls.flatMap(({ method, action }) =>
        method === "dispatch" && action ? [action.kind] : [],
      )
      expect(begun).toEqual(["configure", "start"])
      isAsItWas()
      expect(service.lab.world.vms.get(web.vmid)?.power).toBe("running")
    })

    it("is completed by a deploy, which removes the network card that the snapshot brought back", async () => {
      await service.deploy(ada, range)
      isAsItWas()
      expect(await call("planRange")).toMatchObject({ steps: [] })
    })
  })

  it.each([0, 1, 2].flatMap((k) => [[k, "before"] as const, [k, "after"] as const]))(
    "all or none: after rollback number %i fails %s its effect, no other machine is touched, and the answer says which are back",
    async (k, when) => {
      const { world } = service.lab
      await take({ name: "clean" })
      for (const vmid of vmids()) change(vmid, { parent: undefined })
      let nth = 0
      world.fault = ({ method, action }) =>
        method === "dispatch" && action?.kind === "roll-back" && nth++ === k ? { when, reason: "failed" } : undefined
      const told = await rollBack({ name: "clean", atomic: true })
      world.fault = () => undefined
      const back = machines().flatMap(({ vmid, parent }) => (parent === "clean" ? [vmid] : []))
      expect(back).toHaveLength(when === "after" ? k + 1 : k)
      expect(told.success ?? []).toHaveLength(k)
      expect(back).toEqual(expect.arrayContaining([...(told.success ?? [])]))
      expect(told.errors).toHaveLength(vmids().length - k)
      expect(told.errors?.filter(({ error }) => error.includes("told to fail"))).toHaveLength(1)
      expect(told.errors?.filter(({ error }) => error.includes("was not done"))).toHaveLength(vmids().length - k - 1)
      for (const vmid of vmids()) expect(world.vms.get(vmid)?.power).toBe("running")
    },
  )

  it.each(["before", "after"] as const)(
    "a rollback that fails for any machine, %s its effect, is reported for that machine, none is left off, and the others are back",
    async (when) => {
      const { world } = service.lab
      await take({ name: "clean" })
      for (const failing of vmids()) {
        for (const vmid of vmids()) change(vmid, { parent: undefined, cpus: 7 })
        world.fault = ({ method, action }) =>
          method === "dispatch" && action?.kind === "roll-back" && action.machine.vmid === failing
            ? { when, reason: "failed" }
            : undefined
        const told = await rollBack({ name: "clean" })
        world.fault = () => undefined
        expect(told.success).toEqual(vmids().filter((vmid) => vmid !== failing))
        const became =
          when === "after" ? /told to fail.*rolled back all the same, and was started again/u : /told to fail.*still runs/u
        expect(told.errors).toEqual([{ vmid: failing, vmname: expect.any(String), error: expect.stringMatching(became) }])
        expect(machines().map(({ power, cpus }) => [power, cpus])).toEqual(vmids().map(() => ["running", 7]))
        const back = machines().flatMap(({ vmid, parent }) => (parent === "clean" ? [vmid] : []))
        expect(back).toEqual(when === "after" ? vmids() : told.success)
        expect(await rollBack({ name: "clean" })).toMatchObject({ success: vmids() })
        expect(machines().map(({ power, parent }) => [power, parent])).toEqual(vmids().map(() => ["running", "clean"]))
      }
    },
  )

  it.each(["before", "after"] as const)(
    "a removal that fails for any machine, %s its effect, is reported for that machine alone",
    async (when) => {
      const { world } = service.lab
      for (const failing of vmids()) {
        await take({ name: "clean" })
        world.fault = ({ method, action }) =>
          method === "dispatch" && action?.kind === "remove-snapshot" && action.machine.vmid === failing
            ? { when, reason: "failed" }
            : undefined
        const told = await remove({ name: "clean" })
        world.fault = () => undefined
        const others = vmids().filter((vmid) => vmid !== failing)
        expect(told.success).toEqual(others)
        expect(told.errors).toMatchObject([{ vmid: failing, error: expect.stringContaining("told to fail") }])
        const has = machines().flatMap(({ vmid, snapshots = [] }) => (snapshots.length > 0 ? [vmid] : []))
        expect(has).toEqual(when === "after" ? [] : [failing])
        expect((await list({ refresh: true })).snapshots?.filter(({ name }) => name === "clean").map(({ vmid }) => vmid)).toEqual(
          has,
        )
        if (when === "before") expect(await remove({ name: "clean", vmids: [failing] })).toMatchObject({ success: [failing] })
      }
    },
  )

  it("a machine left off and locked by a failed rollback is not started, since its disks may be from two different times", async () => {
    const { world } = service.lab
    const web = named("web")
    await take({ name: "clean", vmids: [web.vmid] })
    world.fault = ({ method, action }) => {
      if (method !== "dispatch" || action?.kind !== "roll-back") return undefined
      change(web.vmid, { power: "stopped", agentAt: undefined, lock: "rollback" })
      return { when: "before", reason: "failed" }
    }
    const told = await rollBack({ name: "clean", vmids: [web.vmid] })
    world.fault = () => undefined
    expect(told.errors).toMatchObject([
      { vmid: web.vmid, error: expect.stringMatching(/off and locked \(rollback\), so it is not started/u) },
    ])
    expect(world.vms.get(web.vmid)?.power).toBe("stopped")
  })

  it("a machine left off by a failed rollback is started again, and one that was off before stays off", async () => {
    const { world } = service.lab
    const [web, kali] = [named("web"), machines().find(({ name }) => !/web|router/u.test(name))!]
    await take({ name: "clean" })
    change(kali.vmid, { power: "stopped", agentAt: undefined })
    world.fault = ({ method, action }) => {
      if (method !== "dispatch" || action?.kind !== "roll-back") return undefined
      change(action.machine.vmid, { power: "stopped", agentAt: undefined })
      return { when: "before", reason: "failed" }
    }
    const told = await rollBack({ name: "clean", vmids: [web.vmid, kali.vmid] })
    world.fault = () => undefined
    expect(told.errors?.find(({ vmid }) => vmid === web.vmid)?.error).toMatch(/started again, as it was before/u)
    expect([web, kali].map(({ vmid }) => world.vms.get(vmid)?.power)).toEqual(["running", "stopped"])
  })

  it("all or none: nothing is rolled back if one machine cannot be", async () => {
    await take({ name: "clean" })
    change(named("web").vmid, { lock: "backup" })
    service.lab.world.calls.length = 0
    const told = await rollBack({ name: "clean", atomic: true })
    expect(told.success).toBeUndefined()
    expect(told.errors).toHaveLength(vmids().length)
    expect(service.lab.world.calls.some(({ mutating }) => mutating)).toBe(false)
  })

  it("of one name form a set: which machines have it or lack it, since when, and whether it is complete", async () => {
    type Sets = { readonly sets: readonly { readonly name: string }[]; readonly observedAt?: string }
    const sets = async (query = {}) => (await call("getSnapshotSets", { query })) as Sets
    expect(await sets()).toEqual({ sets: [], observedAt: expect.any(String) })
    await take({ name: "clean", includeRAM: true })
    const web = named("web")
    await take({ name: "later", vmids: [web.vmid] })
    service.lab.world.calls.length = 0
    const told = await sets()
    expect(kindsCalled()).toEqual([])
    const ofOne = { vmid: web.vmid, vmname: web.name, snaptime: expect.any(Number), includesRAM: false }
    const times = { oldest: expect.any(Number), newest: expect.any(Number) }
    const others = machines().filter(({ vmid }) => vmid !== web.vmid)
    const missing = others.map(({ vmid, name }) => ({ vmid, vmname: name }))
    const later = { name: "later", complete: false, includesRAM: false, ...times, machines: [ofOne], missing }
    const clean = { name: "clean", complete: true, includesRAM: true, ...times, machines: expect.any(Array), missing: [] }
    expect(told.sets.find(({ name }) => name === "later")).toEqual(later)
    expect(told.sets.find(({ name }) => name === "clean")).toEqual(clean)
    change(web.vmid, { snapshots: service.lab.world.vms.get(web.vmid)!.snapshots!.map((one) => ({ ...one, incomplete: true })) })
    expect((await sets({ refresh: true })).sets).toMatchObject([{ complete: false }, { complete: false }])
  })

  it("no set is complete while the snapshots of a machine are unknown", async () => {
    await take({ name: "clean" })
    service.lab.world.fault = ({ method }) => (method === "snapshots" ? { when: "before", reason: "away" } : undefined)
    service.lab.store.snapshots.get(range.id)?.delete(named("web").vmid)
    expect(await call("getSnapshotSets")).toMatchObject({
      sets: [{ name: "clean", complete: false }],
      errors: [{ vmid: named("web").vmid }],
    })
    service.lab.world.fault = () => undefined
  })

  it("a router that somebody rolled back at the hypervisor is set up again, with the current rules", async () => {
    const router = named("router")
    const stages = service.lab.store.stages.get(range.id)?.get(router.vmid)
    const [key] = stages?.keys() ?? []
    await take({ name: "first", vmids: [router.vmid] })
    await take({ name: "second", vmids: [router.vmid] })
    stages?.set(key ?? "", "something newer")
    change(router.vmid, { parent: "first" })
    await list({ refresh: true })
    expect(service.lab.store.told.get(range.id)).toContain(beingTold)
    expect(
      service.lab.store.stages
        .get(range.id)
        ?.get(router.vmid)
        ?.get(key ?? ""),
    ).not.toBe("something newer")
  })

  it("a snapshot that somebody removed at the hypervisor does not count as a rollback", async () => {
    const router = named("router")
    await take({ name: "first", vmids: [router.vmid] })
    await take({ name: "second", vmids: [router.vmid] })
    const { snapshots = [] } = service.lab.world.vms.get(router.vmid)!
    change(router.vmid, { parent: "first", snapshots: snapshots.slice(0, 1) })
    await list({ refresh: true })
    expect(service.lab.store.told.get(range.id) ?? []).not.toContain(beingTold)
  })

  it("a rollback that did not begin leaves no owed settings", async () => {
    const { world } = service.lab
    const web = named("web")
    await take({ name: "clean", vmids: [web.vmid] })
    world.fault = ({ method, action }) =>
      method === "dispatch" && action?.kind === "roll-back" ? { when: "before", reason: "failed" } : undefined
    await rollBack({ name: "clean", vmids: [web.vmid] })
    world.fault = () => undefined
    change(web.vmid, { cpus: 6, power: "stopped" })
    await call("powerOnRange", { body: { machines: [web.name] } })
    expect(world.vms.get(web.vmid)).toMatchObject({ cpus: 6, power: "running" })
  })

  it("hardware that a machine with restored memory only gets at its next start is reported as a warning", async () => {
    const web = named("web")
    change(web.vmid, { coldHardware: true })
    await take({ name: "asleep", vmids: [web.vmid], includeRAM: true })
    change(web.vmid, { cpus: 7 })
    const told = await rollBack({ name: "asleep", vmids: [web.vmid] })
    expect(told).toMatchObject({ success: [web.vmid] })
    expect(told.warnings).toEqual([
      expect.objectContaining({
        vmid: web.vmid,
        warning: expect.stringMatching(
          new RegExp(`${web.cpus} processors? until it is stopped and started again, and 7 processors then`, "u"),
        ),
      }),
    ])
  })

  it("a machine that is briefly locked gets its hardware back, and is not rolled back twice", async () => {
    const { world } = service.lab
    await take({ name: "clean" })
    const web = named("web")
    change(web.vmid, { cpus: 7 })
    let isLocked = true
    world.calls.length = 0
    world.fault = ({ method, action }) => {
      if (method !== "dispatch" || action?.kind !== "configure" || !isLocked) return undefined
      isLocked = false
      return { when: "before", reason: "locked" }
    }
    expect(await rollBack({ name: "clean", vmids: [web.vmid] })).toMatchObject({ success: [web.vmid] })
    expect(world.vms.get(web.vmid)).toMatchObject({ cpus: 7, power: "running" })
    const begun = world.calls.flatMap(({ method, action }) => (method === "dispatch" && action ? [action.kind] : []))
    expect(begun).toEqual(["roll-back", "configure", "configure", "start"])
  })

  it("when the hypervisor becomes unreachable, the answer covers each machine, and the run continues when it is back", async () => {
    const { world } = service.lab
    const [first, ...others] = vmids()
    world.fault = ({ method, action }) => {
      const isTake = method === "dispatch" && action?.kind === "take-snapshot"
      return isTake && world.vms.get(first!)?.snapshots?.length === 1 ? { when: "before", reason: "away" } : undefined
    }
    const told = await take({ name: "clean" })
    expect(
      [...(told.success ?? []), ...(told.errors ?? []).map(({ vmid }) => vmid)].toSorted((a, b) => Number(a) - Number(b)),
    ).toEqual(vmids())
    expect(told.errors?.map(({ vmid }) => vmid)).toEqual(expect.arrayContaining(others))
    for (const { error } of told.errors ?? []) expect(error).toMatch(/is unreachable.*Run .* resumes automatically/su)
    world.fault = () => undefined
    await service.end(ada, told.runID!)
    expect(held()).toEqual(vmids().map(() => "clean"))
  })

  it("all or none: no machine is reported to have its snapshot while the run waits for the hypervisor", async () => {
    const { world } = service.lab
    const [lost] = vmids()
    world.fault = ({ method, action }) =>
      method === "dispatch" && action?.kind === "take-snapshot" && action.machine.vmid === lost
        ? { when: "before", reason: "away" }
        : undefined
    const told = await take({ name: "clean", atomic: true })
    expect(told.success).toBeUndefined()
    expect(told.errors?.map(({ vmid }) => vmid)).toEqual(vmids())
    world.fault = () => undefined
    await service.end(ada, told.runID!)
  })

  it("a snapshot removed while its rollback is planned affects that machine alone", async () => {
    const { world } = service.lab
    await take({ name: "asleep", includeRAM: true })
    const web = named("web")
    world.fault = ({ method }) => {
      if (method === "snapshotCards") change(web.vmid, { snapshots: [], parent: undefined })
      return undefined
    }
    const told = await rollBack({ name: "asleep" })
    world.fault = () => undefined
    expect(told.success).toEqual(vmids().filter((vmid) => vmid !== web.vmid))
    expect(told.errors).toEqual([expect.objectContaining({ vmid: web.vmid, error: expect.stringContaining("asleep") })])
  })

  it("a snapshot with memory is not rolled back to if the machine's network cards are connected elsewhere now", async () => {
    const web = named("web")
    await take({ name: "asleep", vmids: [web.vmid], includeRAM: true })
    change(web.vmid, { nics: web.nics.map((nic) => ({ ...nic, tag: 77 })) })
    service.lab.world.calls.length = 0
    const told = await rollBack({ name: "asleep", vmids: [web.vmid] })
    expect(told.success).toBeUndefined()
    expect(told.errors?.[0]?.error).toMatch(/asleep of .* includes memory.*net0 on vmbr1001, tag 20.*net0 on vmbr1001, tag 77/u)
    expect(service.lab.world.calls.some(({ mutating }) => mutating)).toBe(false)
    change(web.vmid, { nics: web.nics, cpus: 7 })
    expect(await rollBack({ name: "asleep", vmids: [web.vmid] })).toMatchObject({ success: [web.vmid] })
    expect(service.lab.world.vms.get(web.vmid)).toMatchObject({ nics: web.nics, cpus: 7, power: "running" })
  })

  it("changes inside a machine that a rollback undid are made again by the next deploy", async () => {
    const web = named("web")
    expect(await call("planRange")).toMatchObject({ steps: [] })
    await take({ name: "deployed", vmids: [web.vmid] })
    const stages = service.lab.store.stages.get(range.id)?.get(web.vmid)
    const [key] = stages?.keys() ?? []
    stages?.set(key ?? "", "something older")
    await take({ name: "older", vmids: [web.vmid] })
    await rollBack({ name: "deployed", vmids: [web.vmid] })
    expect(await call("planRange")).toMatchObject({ steps: [] })
    await rollBack({ name: "older", vmids: [web.vmid] })
    expect(((await call("planRange")) as { readonly steps: readonly unknown[] }).steps.length).toBeGreaterThan(0)
  })

  it("are removed, and later ones get the parent of the removed one", async () => {
    for (const name of ["first", "second", "third"]) await take({ name })
    expect(await remove({ name: "second" })).toEqual({ success: vmids(), runID: expect.any(String) })
    const { snapshots = [] } = await list({ vmids: String(vmids()[0]) })
    expect(snapshots.map(({ name, parent }) => [name, parent])).toEqual([
      ["first", undefined],
      ["third", "first"],
      ["current", "third"],
    ])
    const again = await remove({ name: "second" })
    expect(again.success).toBeUndefined()
    expect(again.errors?.every(({ error }) => error.includes("has no snapshot second"))).toBe(true)
    expect(await statusOf(again)).toBe("failure")
  })

  it("are refused while another run changes the range, naming that run", async () => {
    const second = during("take-snapshot", () => take({ name: "other" }))
    expect(await take({ name: "clean" })).toMatchObject({ success: vmids() })
    expect(await second()).toMatchObject({ _tag: "RangeBusy", message: expect.stringContaining("(a snapshot)") })
  })

  it("of a range without machines need no work", async () => {
    await call("deleteRangeVMs")
    expect(await take({ name: "clean" })).toEqual({})
    expect(await list()).toEqual({})
  })

  it("an abort leaves no snapshots with all or none, and otherwise those taken", async () => {
    for (const atomic of [true, false]) {
      const aborted = during("take-snapshot", () => call("abortRange"))
      const told = await take({ name: `aborted-${atomic}`, atomic })
      await aborted()
      const has = held().filter((names) => names.includes(`aborted-${atomic}`)).length
      if (atomic) expect([has, told.success]).toEqual([0, undefined])
      else expect(told.success ?? []).toHaveLength(has)
      expect(await statusOf(told)).toBe("aborted")
    }
  })
})
