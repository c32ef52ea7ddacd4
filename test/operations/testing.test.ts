import type { MemoryVm } from "@rangewright/adapter-memory"
import { type HandlerRequest, rangeRequest, RunPlanner } from "@rangewright/application"
import { type Fault, type Range, testingSnapshot, testingStandIn, type User, type Vmid } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { labSettings } from "../runs/support/lab.ts"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

interface Told {
  readonly result: string
  readonly warnings?: readonly string[]
  readonly runID: string
}
interface Changed {
  readonly allowed?: readonly string[]
  readonly denied?: readonly string[]
  readonly errors?: readonly { readonly item: string; readonly reason: string }[]
}

describe("testing mode of a range", () => {
  let service: RangeService
  let ada: User
  let range: Range
  const call = (id: string, request?: Partial<HandlerRequest>) => service.call(id, ada, request)
  const start = async () => (await call("startTesting")) as Told
  const stop = async (force?: boolean) =>
    (await call("stopTesting", { body: force === undefined ? undefined : { force } })) as Told
  const allow = async (body: object) => (await call("allow", { body })) as Changed
  const deny = async (body: object) => (await call("deny", { body })) as Changed
  const refused = (what: Promise<unknown>) =>
    what.then(
      () => {
        throw new Error("it was not refused")
      },
      (fault: unknown) => fault as Fault,
    )
  const testing = async () => (await service.find("LAB")).testing
  const machines = () =>
    [...service.lab.world.vms.values()].filter(({ pool }) => pool === range.id).toSorted((a, b) => a.vmid - b.vmid)
  const named = (part: string) => machines().find(({ name }) => name.includes(part))!
  const router = () => named("router")
  /** The machines that are rolled back: all but the router and the one excluded by its configuration. */
  const others = () => machines().filter(({ name }) => !name.includes("router") && !name.includes("kali"))
  const held = () => others().map(({ snapshots = [] }) => snapshots.map(({ name }) => name).join())
  const change = (vmid: Vmid, what: Partial<MemoryVm>) =>
    service.lab.world.vms.set(vmid, { ...service.lab.world.vms.get(vmid)!, ...what })
  /** The rules that the router last got successfully. */
  const rules = () => {
    const told = service.lab.store.stages.get(range.id)?.get(router().vmid) ?? new Map<string, string>()
    return JSON.stringify(
      [...told]
        .filter(([key]) => /^(?:firewall|dns):/u.test(key))
        .map((one) => one.join())
        .toSorted(),
    )
  }
  const breaks = (kind: string, of: (vmid: Vmid) => boolean, stage?: string) => {
    service.lab.world.fault = ({ method, action }) =>
      method === "dispatch" &&
      action !== undefined &&
      action.kind === kind &&
      "machine" in action &&
      of(action.machine.vmid) &&
      (stage === undefined || (action.kind === "guest" && action.stage === stage))
        ? { when: "before", reason: "failed" }
        : undefined
  }
  const failsToTake = (vmid: number) => {
    service.lab.world.fault = ({ method, action }) =>
      method === "dispatch" &&
      action?.kind === "take-snapshot" &&
      action.machine.vmid === vmid &&
      action.snapshot.name === testingSnapshot
        ? { when: "before", reason: "failed" }
        : undefined
  }
  const heals = () => {
    service.lab.world.fault = () => undefined
  }

  beforeEach(async () => {
    service = makeRangeService()
    ada = await service.addUser("Ada")
    await call("createRange", { body: { name: "Lab", rangeID: "LAB" } })
    await service.putConfig(ada, await service.find("LAB"), service.lab.config)
    range = await service.find("LAB")
    await service.deploy(ada, range)
  })
  afterEach(() => service.close())

  it("starts by taking a snapshot of each machine but the router, and then cuts the range off", async () => {
    const open = rules()
    const told = await start()
    expect(told.result).toContain("LAB")
    expect(told.warnings).toEqual([
      expect.stringMatching(/^LAB-kali keeps its internet access/u),
      expect.stringMatching(/^LAB-kali gets no snapshot and is not rolled back/u),
    ])
    expect(held()).toEqual(others().map(() => testingSnapshot))
    for (const part of ["router", "kali"]) expect(named(part).snapshots ?? []).toEqual([])
    expect(await testing()).toEqual({ mode: "on", allowedDomains: [], allowedIps: [] })
    expect(rules()).not.toBe(open)
    expect((await refused(start())).kind).toBe("conflict")
  })

  it("allows nothing that became protected after the request, as a resumed run would", async () => {
    await start()
    const protectedAddresses = ["203.0.113.0/24"]
    const later = makeRangeService({ ...labSettings, protectedAddresses }, undefined, service.lab)
    const asked = { allow: { domains: [], ips: ["93.184.216.34"] }, deny: { domains: [], ips: [] } }
    const plan = (allow: { readonly domains: readonly string[]; readonly ips: readonly string[] }) =>
      later.run(
        RunPlanner.use((planner) =>
          Effect.flatMap(
            Ranges.use((ranges) => ranges.find(range.id)),
            (now) => planner.plan(now!, { kind: "testing-change", ...asked, allow }, ada.id, "preview"),
          ),
        ),
      )
    for (const allow of [
      { domains: [], ips: ["93.184.216.34", "203.0.113.9"] },
      { domains: ["updates.example (203.0.113.9)"], ips: [] },
    ])
      expect(await refused(plan(allow))).toMatchObject({
        kind: "conflict",
        message: expect.stringMatching(
          /^Cannot change what is allowed while testing of range LAB: .*203\.0\.113\.9 belongs to the hypervisor$/u,
        ),
      })
    expect((await plan(asked.allow)).steps).not.toEqual([])
    await later.close()
  })

  it("stops by rolling back and starting each machine, and then opens the range and clears the allowed list", async () => {
    const open = rules()
    await start()
    await allow({ ips: ["203.0.113.9"] })
    for (const { vmid } of others()) change(vmid, { cpus: 7, stages: new Map() })
    await stop()
    expect(await testing()).toEqual({ mode: "off", allowedDomains: [], allowedIps: [] })
    expect(rules()).toBe(open)
    for (const { power, parent, stages } of others()) {
      expect([power, parent]).toEqual(["running", testingSnapshot])
      expect(stages.size).toBeGreaterThan(0)
    }
    expect((await refused(stop())).kind).toBe("conflict")
  })

  it("is refused before anything is done if a machine cannot have a snapshot, which is named", async () => {
    const { vmid, name } = others()[1]!
    change(vmid, { keepsSnapshots: false })
    const fault = await refused(start())
    expect(fault.message).toContain(name)
    expect(held().join("")).toBe("")
    expect((await testing()).mode).toBe("off")
  })

  it("leaves no snapshots and an open range if any of them fails", async () => {
    const open = rules()
    for (const { vmid } of others()) {
      breaks("take-snapshot", (one) => one === vmid)
      const fault = await refused(start())
      heals()
      expect(fault.kind).toBe("failed")
      expect(fault.hint).toContain("open as before")
      expect(held().join("")).toBe("")
      expect((await testing()).mode).toBe("off")
      expect(rules()).toBe(open)
    }
  })

  it.each(["firewall", "dns"])(
    "says that the router may be open when its %s fails, and a second start completes it",
    async (stage) => {
      breaks("guest", () => true, stage)
      const fault = await refused(start())
      heals()
      expect(fault.hint).toMatch(/entering.*router may still be open/u)
      expect((await testing()).mode).toBe("entering")
      const taken = JSON.stringify(others().map(({ snapshots }) => snapshots))
      await start()
      expect((await testing()).mode).toBe("on")
      expect(JSON.stringify(others().map(({ snapshots }) => snapshots))).toBe(taken)
    },
  )

  it("a start that failed halfway can be stopped", async () => {
    const open = rules()
    breaks("guest", () => true, "dns")
    await refused(start())
    heals()
    await stop()
    expect((await testing()).mode).toBe("off")
    expect(rules()).toBe(open)
  })

  it("keeps the range cut off while a machine cannot be rolled back; force opens it and names the machine", async () => {
    await start()
    const closed = rules()
    const { vmid, name } = others()[2]!
    breaks("roll-back", (one) => one === vmid)
    const fault = await refused(stop())
    expect(fault.message).toContain(name)
    expect(fault.hint).toContain("leaving")
    expect((await testing()).mode).toBe("leaving")
    expect(rules()).toBe(closed)
    expect((await refused(start())).kind).toBe("conflict")
    const told = await stop(true)
    heals()
    expect((await testing()).mode).toBe("off")
    expect(rules()).not.toBe(closed)
    expect(told.warnings?.join("\n")).toContain(name)
  })

  it("is not stopped, before anything is done, if a machine has no snapshot, unless forced", async () => {
    await start()
    const { vmid, name } = others()[0]!
    change(vmid, { snapshots: [], parent: undefined })
    const fault = await refused(stop())
    expect([fault.kind, fault.message]).toEqual(["precondition", expect.stringContaining(name)])
    expect((await testing()).mode).toBe("on")
    const told = await stop(true)
    expect(told.warnings?.join("\n")).toContain(name)
    expect((await testing()).mode).toBe("off")
  })

  describe("a machine that cannot be observed", () => {
    const away = (isAway: boolean) => {
      const { vmid } = others()[1]!
      service.lab.world.nodes.set("far", { ...service.lab.world.nodes.get("node1")!, name: "far", online: !isAway })
      change(vmid, { node: "far" })
    }

    it("prevents testing from starting", async () => {
      away(true)
      const fault = await refused(start())
      expect([fault.kind, fault.message]).toEqual(["precondition", expect.stringContaining(others()[1]!.name)])
      expect(held().join("")).toBe("")
      expect((await testing()).mode).toBe("off")
    })

    it("prevents testing from stopping, and is named with force", async () => {
      await start()
      away(true)
      const fault = await refused(stop())
      expect([fault.kind, fault.message]).toEqual(["precondition", expect.stringContaining(others()[1]!.name)])
      expect(fault.hint).toContain("force")
      expect((await testing()).mode).toBe("on")
      const told = await stop(true)
      expect(told.result).toContain("not all of its machines are rolled back")
      expect(told.warnings?.join("\n")).toContain(others()[1]!.name)
      expect((await testing()).mode).toBe("off")
    })
  })

  it("is not stopped, unless forced, while a VM in the pool has lost our mark", async () => {
    await start()
    const { vmid, name } = others()[1]!
    change(vmid, { description: "mine" })
    const fault = await refused(stop())
    expect([fault.kind, fault.message]).toEqual(["precondition", expect.stringContaining(name)])
    expect((await testing()).mode).toBe("on")
    const told = await stop(true)
    expect(told.result).toContain("not all of its machines are rolled back")
    expect(told.warnings?.join("\n")).toContain(name)
  })

  it.each([{ tags: ["router"] }, { name: "LAB-router-debian11-x64" }])(
    "also rolls back a machine that was made to look like the router: %j",
    async (disguise) => {
      await start()
      const { vmid } = others()[1]!
      change(vmid, { ...disguise, parent: undefined })
      await stop()
      expect(service.lab.world.vms.get(vmid)?.parent).toBe(testingSnapshot)
    },
  )

  it("is not stopped, unless forced, while a machine is missing from the lists and in doubt", async () => {
    await start()
    const { vmid } = others()[1]!
    const vm = service.lab.world.vms.get(vmid)!
    service.lab.world.vms.delete(vmid)
    service.lab.world.fault = ({ method }) => (method === "seek" ? { when: "before", reason: "away" } : undefined)
    expect((await refused(stop())).message).toContain(String(vmid))
    heals()
    service.lab.world.vms.set(vmid, vm)
    expect((await testing()).mode).toBe("on")
  })

  it("warns at the start about a foreign VM in the pool, with which it can only be stopped by force", async () => {
    const { vmid, name } = others()[1]!
    change(vmid, { description: "mine" })
    expect((await start()).warnings?.join("\n")).toMatch(new RegExp(`${name}.*testing can only be stopped with force`, "u"))
  })

  /** Uploads this and deploys it despite testing mode. */
  const deployed = async (config: string) => {
    await call("putConfig", {
      range: await service.find("LAB"),
      body: { force: true },
      file: { filename: "file", contentType: "", bytes: new TextEncoder().encode(config) },
    })
    const { runID } = (await call("deployRange", { range: await service.find("LAB"), body: { force: true } })) as Told
    await service.end(ada, runID)
  }
  /** The configuration with one machine excluded from snapshots. */
  const spared = () =>
    service.lab.config.replace(
      'hostname: "{{ range_id }}-web01"',
      'hostname: "{{ range_id }}-web01"\n    testing:\n      snapshot: false\n      block_internet: true',
    )
  const withoutWeb = () => service.lab.config.replace(/ {2}- vm_name: "[^"]*-web01"\n[\s\S]*?\n(?= {2}- vm_name)/u, "")

  it("also rolls back machines that the configuration no longer names or now excludes", async () => {
    await start()
    await deployed(spared())
    for (const { vmid } of others()) change(vmid, { stages: new Map([["infected", 1]]), parent: undefined })
    await stop()
    for (const { parent } of others()) expect(parent).toBe(testingSnapshot)
    await deployed(service.lab.config)
    await start()
    await deployed(withoutWeb())
    expect(named("web01")).toBeDefined()
    for (const { vmid } of others()) change(vmid, { parent: undefined })
    await stop()
    expect(named("web01").parent).toBe(testingSnapshot)
  })

  it("does not start if an excluded machine has an old snapshot, to which a stop would roll back", async () => {
    await start()
    await stop()
    await deployed(spared())
    const fault = await refused(start())
    expect([fault.kind, fault.message]).toEqual(["precondition", expect.stringContaining(named("web01").name)])
    expect((await testing()).mode).toBe("off")
    await call("snapshotsRemove", { body: { name: testingSnapshot, vmids: [named("web01").vmid] } })
    expect((await start()).warnings?.join("\n")).toMatch(/LAB-web01 gets no snapshot/u)
    await stop()
    expect(named("web01").parent).toBeUndefined()
  })

  it.each(["firewall", "dns"])(
    "a stop that fails with %s says that testing mode is off and the router is still closed",
    async (stage) => {
      const open = rules()
      await start()
      breaks("guest", () => true, stage)
      const fault = await refused(stop())
      heals()
      expect(fault.kind).toBe("failed")
      expect(fault.hint).toMatch(/^The machines are rolled back and.*router.*closed.*Deploy/u)
      expect(await testing()).toEqual({ mode: "off", allowedDomains: [], allowedIps: [] })
      for (const { parent } of others()) expect(parent).toBe(testingSnapshot)
      await service.deploy(ada, await service.find("LAB"))
      expect(rules()).toBe(open)
    },
  )

  it("a forced stop whose router is not opened names the machines that are not rolled back", async () => {
    await start()
    const { vmid, name } = others()[2]!
    service.lab.world.fault = ({ method, action }) =>
      method === "dispatch" &&
      ((action?.kind === "roll-back" && action.machine.vmid === vmid) ||
        (action?.kind === "guest" && action.stage === "firewall"))
        ? { when: "before", reason: "failed" }
        : undefined
    const fault = await refused(stop(true))
    heals()
    expect(fault.hint).toMatch(new RegExp(`Not rolled back: ${name}\\. .*still closed`, "u"))
    expect((await testing()).mode).toBe("off")
  })

  it("takes new snapshots when a failed start is resumed: its own may be old by then", async () => {
    await start()
    await stop()
    const { vmid } = others()[1]!
    failsToTake(vmid)
    await refused(start())
    heals()
    const last = [...service.lab.store.runs.values()].at(-1)!.record.id
    const before = service.lab.world.calls.length
    const { runID } = (await call("resumeRun", { path: { runID: last } })) as Told
    expect(await service.end(ada, runID)).toMatchObject({ status: "success" })
    const taken = service.lab.world.calls
      .slice(before)
      .flatMap(({ method, action }) =>
        method === "dispatch" && action?.kind === "take-snapshot" && action.snapshot.name === testingSnapshot
          ? [action.machine.vmid]
          : [],
      )
    expect(taken.toSorted((a, b) => a - b)).toEqual(others().map((one) => one.vmid))
  })

  it("of two concurrent starts, one is refused", async () => {
    const both = await Promise.allSettled([start(), start()])
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])
    const fault = both.find((one) => one.status === "rejected")?.reason as Fault
    expect(fault.kind).toBe("conflict")
  })

  it("is refused while a run changes the range", async () => {
    const { runID } = (await call("deployRange", { body: { force: true } })) as { readonly runID: string }
    const fault = await refused(start())
    expect([fault.kind, fault.message]).toEqual(["conflict", expect.stringContaining(runID)])
    await service.end(ada, runID)
    expect((await testing()).mode).toBe("off")
  })

  describe("an abort", () => {
    /** Aborts the current run as soon as this is asked of the hypervisor or of a machine. */
    const abortAt = (kind: string, stage?: string) => {
      let begun: Promise<unknown> | undefined
      service.lab.world.fault = ({ method, action }) => {
        const isIt = action?.kind === kind && (stage === undefined || (action.kind === "guest" && action.stage === stage))
        if (method === "dispatch" && isIt) begun ??= call("abortRange").catch((fault: unknown) => fault)
        return undefined
      }
      return async () => {
        heals()
        expect(begun).toBeDefined()
        await begun
      }
    }

    it.each([
      ["take-snapshot", undefined],
      ["guest", "firewall"],
      ["guest", "dns"],
    ] as const)(
      "of a start at %s %s leaves an open range without snapshots, or one that is not said to be closed",
      async (kind, stage) => {
        const open = rules()
        const aborted = abortAt(kind, stage)
        const fault = await refused(start())
        await aborted()
        const { mode } = await testing()
        if (kind === "take-snapshot") {
          expect([mode, held().join("")]).toEqual(["off", ""])
          expect(rules()).toBe(open)
        } else {
          expect(mode).toBe("entering")
          expect(fault.hint).toContain("entering")
        }
        await start()
        expect((await testing()).mode).toBe("on")
      },
    )

    it.each([
      ["roll-back", undefined],
      ["guest", "firewall"],
    ] as const)("of a stop at %s %s opens no range whose machines are not rolled back", async (kind, stage) => {
      await start()
      for (const { vmid } of others()) change(vmid, { parent: undefined })
      const closed = rules()
      const aborted = abortAt(kind, stage)
      await refused(stop())
      await aborted()
      const { mode } = await testing()
      expect(mode).toBe(kind === "roll-back" ? "leaving" : "off")
      if (mode === "leaving") expect(rules()).toBe(closed)
      else for (const { parent } of others()) expect(parent).toBe(testingSnapshot)
      if (mode === "off") await service.deploy(ada, await service.find("LAB"))
      else await stop()
      expect((await testing()).mode).toBe("off")
      expect(rules()).not.toBe(closed)
    })
  })

  it("replaces a snapshot that is too old, and always keeps one while doing so", async () => {
    await start()
    await stop()
    const first = others().map(({ snapshots = [] }) => snapshots.map(({ description }) => description))
    const without: Vmid[] = []
    service.lab.world.fault = () => {
      for (const { vmid, snapshots = [] } of others()) if (snapshots.length === 0) without.push(vmid)
      return undefined
    }
    await start()
    heals()
    expect(without).toEqual([])
    expect(held()).toEqual(others().map(() => testingSnapshot))
    const second = others().map(({ snapshots = [] }) => snapshots.map(({ description }) => description))
    second.forEach((one, i) => expect(one).not.toEqual(first[i]))
  })

  it("if the new snapshot of a machine fails, its state stays in the stand-in, and the next start continues", async () => {
    await start()
    await stop()
    const { vmid } = others()[1]!
    failsToTake(vmid)
    await refused(start())
    heals()
    expect((await testing()).mode).toBe("off")
    for (const one of others()) expect(one.snapshots?.length).toBeGreaterThan(0)
    expect(service.lab.world.vms.get(vmid)?.snapshots?.map(({ name }) => name)).toEqual([testingStandIn])
    await start()
    expect(held()).toEqual(others().map(() => testingSnapshot))
  })

  it("reuses a snapshot that is recent enough", async () => {
    const text = `${service.lab.config}\ndefaults:\n  stale_hours: 5\n`
    await service.putConfig(ada, range, text)
    await service.deploy(ada, await service.find("LAB"))
    await start()
    await stop()
    const first = JSON.stringify(others().map(({ snapshots }) => snapshots))
    await start()
    expect(JSON.stringify(others().map(({ snapshots }) => snapshots))).toBe(first)
    await stop()
    // taken while the node's clock was a year ahead: nobody knows how old it is
    for (const { vmid, snapshots = [] } of others())
      change(vmid, { snapshots: snapshots.map((one) => ({ ...one, takenAt: one.takenAt + 365 * 24 * 3600 })) })
    const future = JSON.stringify(others().map(({ snapshots }) => snapshots))
    await start()
    expect(JSON.stringify(others().map(({ snapshots }) => snapshots))).not.toBe(future)
    expect(held()).toEqual(others().map(() => testingSnapshot))
  })

  it("powers the router on", async () => {
    change(router().vmid, { power: "stopped", agentAt: undefined })
    await start()
    expect(router().power).toBe("running")
    expect((await testing()).mode).toBe("on")
  })

  it("a forced deploy keeps the range cut off", async () => {
    await start()
    const closed = rules()
    const { runID } = (await call("deployRange", { body: { force: true } })) as { readonly runID: string }
    await service.end(ada, runID)
    expect(rules()).toBe(closed)
    expect((await testing()).mode).toBe("on")
  })

  it.each(["snapshotsTake", "snapshotsRollback", "snapshotsRemove"])("%s does not touch its snapshots", async (operation) => {
    await start()
    const before = JSON.stringify(machines().map(({ snapshots }) => snapshots))
    const told = (await call(operation, { body: { name: testingSnapshot } })) as {
      readonly success?: unknown
      readonly errors: readonly { readonly error: string }[]
    }
    expect(told.success).toBeUndefined()
    expect(told.errors).toHaveLength(machines().length)
    for (const { error } of told.errors) expect(error).toContain("testing")
    expect(JSON.stringify(machines().map(({ snapshots }) => snapshots))).toBe(before)
  })

  it("prevents a rollback of the router, which might be open again", async () => {
    await call("snapshotsTake", { body: { name: "before" } })
    await start()
    const told = (await call("snapshotsRollback", { body: { name: "before" } })) as {
      readonly success: readonly number[]
      readonly errors: readonly { readonly vmid: number; readonly error: string }[]
    }
    expect(told.errors).toEqual([{ vmid: router().vmid, vmname: router().name, error: expect.stringContaining("testing is on") }])
    expect(told.success).toHaveLength(machines().length - 1)
    expect(router().parent).toBe("before")
    expect(router().power).toBe("running")
  })

  it("updating the router's users keeps the range cut off, and the range is as configured", async () => {
    await start()
    const closed = rules()
    const head = await service.run(RunEngine.use((engine) => engine.start(rangeRequest(range, { kind: "access" }), ada.id)))
    expect(await service.end(ada, head.id)).toMatchObject({ status: "success" })
    expect(rules()).toBe(closed)
    expect(JSON.stringify(await call("getRangeDrift", { range: await service.find("LAB") }))).not.toMatch(/firewall|names/u)
    const shown = (await call("listRange", { range: await service.find("LAB") })) as Uint8Array
    expect(JSON.parse(new TextDecoder().decode(shown))).toMatchObject({
      testingEnabled: true,
      testingState: "on",
    })
  })

  it("warns about a machine with a network card that the router does not see", async () => {
    const { vmid, nics, name } = others()[0]!
    change(vmid, {
      nics: [...nics, { index: 1, model: "virtio", mac: "BC:24:11:00:00:09", bridge: "vmbr0", tag: undefined, firewall: false }],
    })
    expect((await start()).warnings?.join("\n")).toMatch(new RegExp(`${name}.*net1 on vmbr0`, "u"))
  })

  it("warns about a machine that should keep internet access and cannot, since its network card is unknown", async () => {
    const { vmid, nics, name } = named("kali")
    expect((await start()).warnings?.join("\n")).toContain(`${name} keeps its internet access`)
    await stop()
    change(vmid, { nics: nics.map((nic) => ({ ...nic, tag: 4000 })) })
    const warnings = (await start()).warnings?.join("\n")
    expect(warnings).toContain(`${name} is isolated too`)
    expect(warnings).not.toContain(`${name} keeps its internet access`)
  })

  it("ends when all machines are removed", async () => {
    await start()
    const { runID } = (await call("deleteRangeVMs", { range: await service.find("LAB") })) as { readonly runID?: string }
    if (runID !== undefined) await service.end(ada, runID)
    expect((await testing()).mode).toBe("off")
  })

  it("requires a previous deploy", async () => {
    await call("createRange", { body: { name: "Bare", rangeID: "BARE" } })
    const fault = await refused(call("startTesting", { range: await service.find("BARE") }))
    expect([fault.kind, fault.hint]).toEqual(["conflict", expect.stringContaining("Deploy the range")])
  })

  describe("the allowed list", () => {
    beforeEach(() => {
      const { addresses, revocationHosts } = service.names
      addresses.set("example.com", "203.0.113.10")
      addresses.set("sub.example.com", "203.0.113.11")
      addresses.set("notexample.com", "203.0.113.12")
      addresses.set("crl.ca.example", "203.0.113.20")
      addresses.set("inside.example.com", "10.7.10.5")
      revocationHosts.set("example.com", ["CRL.ca.example", "gone.example"])
      return start()
    })

    it("a domain is stored with its address and the hosts that its certificates name", async () => {
      expect(await allow({ domains: ["Example.com.", ""] })).toEqual({
        allowed: ["example.com", "crl.ca.example"],
        errors: [{ item: "gone.example", reason: expect.stringContaining("no such name") }],
      })
      expect((await testing()).allowedDomains).toEqual(["example.com (203.0.113.10)", "crl.ca.example (203.0.113.20)"])
      expect(await allow({ domains: ["example.com"] })).toEqual({
        errors: [{ item: "example.com", reason: "example.com is already allowed" }],
      })
    })

    it("takes one run for all items of a request", async () => {
      const before = service.lab.store.runs.size
      await allow({ domains: ["example.com", "sub.example.com"], ips: ["203.0.113.1", "203.0.113.2"] })
      expect(service.lab.store.runs.size).toBe(before + 1)
    })

    it("a domain is exactly that one, not those above, below or beside it", async () => {
      await allow({ domains: ["sub.example.com", "notexample.com"] })
      expect((await allow({ domains: ["example.com"] })).allowed).toContain("example.com")
      expect(await deny({ domains: ["example.com"] })).toEqual({ denied: ["example.com"] })
      expect((await testing()).allowedDomains).toEqual([
        "sub.example.com (203.0.113.11)",
        "notexample.com (203.0.113.12)",
        "crl.ca.example (203.0.113.20)",
      ])
      expect(await deny({ domains: ["example.com"] })).toEqual({
        errors: [{ item: "example.com", reason: expect.stringContaining("not allowed") }],
      })
    })

    it("an address that is not allowed is reported as in the contract", async () => {
      await allow({ ips: ["203.0.113.1"] })
      expect(await deny({ ips: ["203.0.113.1", "203.0.113.2"] })).toEqual({
        denied: ["203.0.113.1", expect.stringContaining("203.0.113.2 is not allowed")],
      })
      expect((await testing()).allowedIps).toEqual([])
    })

    it.each(["firewall", "dns"])(
      "a change that fails with %s leaves testing mode entering, and a start completes it",
      async (stage) => {
        await allow({ ips: ["203.0.113.1", "203.0.113.2"] })
        const taken = JSON.stringify(others().map(({ snapshots }) => snapshots))
        breaks("guest", () => true, stage)
        const failed = await allow({ ips: ["203.0.113.3"] })
        expect(failed.allowed).toBeUndefined()
        expect(failed.errors).toEqual([
          { item: "203.0.113.3", reason: expect.stringMatching(/entering.*more.*Start testing again/u) },
        ])
        expect(await testing()).toMatchObject({ mode: "entering", allowedIps: ["203.0.113.1", "203.0.113.2"] })
        for (const again of [allow({ ips: ["203.0.113.4"] }), deny({ ips: ["203.0.113.9"] })]) {
          const fault = await refused(again)
          expect([fault.kind, fault.hint]).toEqual(["conflict", expect.stringContaining("Start testing again")])
        }
        heals()
        await start()
        breaks("guest", () => true, stage)
        expect((await deny({ ips: ["203.0.113.1", "203.0.113.9"] })).denied).toEqual([
          expect.stringContaining("203.0.113.9 is not"),
        ])
        expect(await testing()).toMatchObject({ mode: "entering", allowedIps: ["203.0.113.2"] })
        heals()
        const stale = rules()
        await start()
        // where only the names failed, the router had the rules already
        expect(rules() === stale).toBe(stage === "dns")
        expect(await testing()).toMatchObject({ mode: "on", allowedIps: ["203.0.113.2"] })
        expect(JSON.stringify(others().map(({ snapshots }) => snapshots))).toBe(taken)
      },
    )

    it.each([
      "203.0.113.0/24",
      "0.0.0.0/0",
      "0.0.0.0",
      "2001:db8::1",
      "::ffff:203.0.113.1",
      "224.0.0.1",
      "255.255.255.255",
      "127.0.0.1",
      "169.254.169.254",
      "10.7.10.254",
      "10.2.10.5",
      "192.0.2.254",
      "192.0.2.107",
      "198.51.100.1",
      "203.0.113.01",
      "0xcb.0.113.1",
      "3405803777",
      "{{ range_id }}",
      "203.0.113.1; -j ACCEPT",
      "203.0.113.1\n-A FORWARD -j ACCEPT",
      "example.com",
    ])("refuses the address %j", async (item) => {
      const told = await allow({ ips: [item, "203.0.113.77"] })
      expect(told.allowed).toEqual(["203.0.113.77"])
      expect(told.errors).toEqual([{ item, reason: expect.any(String) }])
      expect((await testing()).allowedIps).toEqual(["203.0.113.77"])
    })

    it.each([
      "a\nb.example",
      "a.example\n",
      "*.example.com",
      "example.com..",
      ".example.com",
      "exa mple.com",
      "ex_ämple.com",
      `${"a.".repeat(126)}com`,
      `${"a".repeat(64)}.com`,
      "203.0.113.9",
      "[2001:db8::1]",
      "localhost",
      "a.localhost",
      "com",
      "inside.example.com",
      "unknown.example",
      "example.com/path",
      "{{ range_id }}.example",
    ])("refuses the domain %j", async (item) => {
      const told = await allow({ domains: [item] })
      // people put blanks around items between commas
      if (item.trim() === item) expect(told.allowed).toBeUndefined()
      expect(told.errors).toHaveLength(1)
      expect((await testing()).allowedDomains).toEqual([])
    })

    it("an empty request does nothing", async () => {
      const before = service.lab.store.runs.size
      expect(await allow({ domains: null, ips: [] })).toEqual({})
      expect(await deny({})).toEqual({})
      expect(service.lab.store.runs.size).toBe(before)
    })

    it("is limited in size for each range", async () => {
      const many = Array.from({ length: 999 }, (_one, i) => `203.0.${Math.floor(i / 250)}.${i % 250}`)
      const mode = { mode: "on" as const, allowedDomains: [], allowedIps: many }
      await service.run(Ranges.use((ranges) => ranges.change(range.id, { testing: mode })))
      const told = await allow({ ips: ["203.0.113.1", "203.0.113.2"] })
      expect(told.allowed).toEqual(["203.0.113.1"])
      expect(told.errors).toEqual([{ item: "203.0.113.2", reason: expect.stringContaining("1000") }])
    })

    it("cannot be changed while testing mode is not on", async () => {
      await stop()
      for (const one of [allow({ ips: ["203.0.113.1"] }), deny({ ips: ["203.0.113.1"] })])
        expect((await refused(one)).kind).toBe("conflict")
    })
  })

  describe("the router's report", () => {
    const line = { source: "10.1.10.11", destination: "198.18.0.2", protocol: 17, port: 123, packets: 3 }
    const asked = { source: "10.1.10.11", name: "c2.evil.example", queries: 2 }
    const shows = (code: number, ...lines: readonly object[]) => {
      service.lab.world.routerReport = [`check ${code}`, ...lines.map((one) => JSON.stringify(one))].join("\n")
    }
    const blocked = (refresh = true) => call("getTestingBlocked", { query: { refresh } })
    const drift = async () =>
      (await call("getRangeDrift")) as { readonly inSync: boolean; readonly differences: readonly object[] }

    it("lists what was blocked, even after a stop, and nothing before the router is inspected", async () => {
      shows(0, line, asked, { packets: 3, full: false })
      expect(await blocked(false)).toEqual({ testingState: "off", packets: 0, complete: false, blocked: [], names: [] })
      expect((await refused(blocked())).kind).toBe("conflict")
      await start()
      const told = {
        testingState: "on",
        inspectedAt: expect.any(String),
        rules: "as-loaded",
        packets: 3,
        complete: true,
        blocked: [{ ...line, protocol: "udp", machine: "LAB-dc01" }],
        names: [{ ...asked, machine: "LAB-dc01" }],
      }
      expect(await blocked()).toEqual(told)
      await stop()
      expect(await blocked(false)).toEqual({ ...told, testingState: "off" })
    })

    it("is read once more before a stop, if the router is reached over the network", async () => {
      service.lab.world.guestsOverNetwork = true
      await start()
      shows(0, line, { packets: 3, full: false })
      await stop()
      expect(await blocked(false)).toMatchObject({ testingState: "off", packets: 3, blocked: [{ packets: 3 }] })
    })

    it("of changed rules ends the state on, until a start has loaded them again", async () => {
      await start()
      expect((await drift()).inSync).toBe(true)
      shows(3, { packets: 0, full: false })
      expect(await blocked()).toMatchObject({ testingState: "entering", rules: "changed" })
      expect(await drift()).toMatchObject({
        inSync: false,
        differences: [{ object: "rules of the router of LAB", reasons: [expect.stringContaining("PUT /testing/start")] }],
      })
      expect((await refused(allow({ ips: ["203.0.113.9"] }))).kind).toBe("conflict")
      const kept = held()
      await start()
      expect(held()).toEqual(kept)
      expect((await testing()).mode).toBe("on")
      expect((await drift()).inSync).toBe(true)
    })

    it("is unavailable if the router reports nothing, does not respond or is off, and the state stays", async () => {
      await start()
      const unknown = async (part: string) => {
        expect((await refused(blocked())).message).toContain(part)
        expect((await testing()).mode).toBe("on")
      }
      await unknown("does not report its rules")
      service.lab.world.routerReport = "nonsense"
      await unknown("does not report its rules")
      shows(0)
      breaks("guest", () => true, "inspect-router")
      await unknown(router().name)
      heals()
      await call("powerOffRange", { body: { machines: [router().name] } })
      await unknown("stopped")
    })
  })

  describe("Windows updates", () => {
    const update = async (name: string) => (await call("update", { body: { name } })) as Told
    const isUpdate = (key: string) => key.startsWith("windows-update")
    const updated = () => machines().flatMap(({ name, stages }) => ([...stages.keys()].some(isUpdate) ? [name] : []))
    /** The machines that an update of this name updates, once it has ended. */
    const updatedBy = async (name: string) => {
      for (const { vmid, stages } of machines()) change(vmid, { stages: new Map([...stages].filter(([key]) => !isUpdate(key))) })
      const { runID } = await update(name)
      expect(await service.end(ada, runID)).toMatchObject({ status: "success", kind: "testing-update" })
      return updated()
    }

    it("are installed while the client does not wait", async () => {
      const { runID } = await update("LAB-ws01")
      expect(updated()).toEqual([])
      expect(await call("getRun", { path: { runID } })).toMatchObject({ status: "running" })
      expect(await service.end(ada, runID)).toMatchObject({ status: "success", kind: "testing-update" })
      expect(updated()).toEqual(["LAB-ws01"])
    })

    it.each<readonly [string, readonly string[]]>([
      ["LAB-ws01", ["ws01"]],
      ["LAB-ws01,LAB-dc01", ["dc01", "ws01"]],
      // by the system of the machine
      ["windows", ["dc01", "files01", "ws01"]],
      // groups of every range
      ["LAB_test_range_dc", ["dc01"]],
      ["LAB_windows_endpoints", ["files01", "ws01"]],
      // a group of the configuration, with and without machines that are no Windows
      ["offices", ["files01", "ws01"]],
      ["web_servers,LAB-dc01", ["dc01"]],
      ["LAB", ["dc01", "files01", "ws01"]],
      ["all:!offices", ["dc01"]],
      ["windows:&offices:!LAB-files01", ["ws01"]],
    ])("are installed on the Windows machines that %s names, and on no others", async (name, expected) => {
      const member = "role: member\n"
      const config = service.lab.config.replaceAll(member, `${member}    ansible_groups: [offices]\n`)
      await service.putConfig(ada, range, config)
      expect(await service.deploy(ada, range)).toMatchObject({ status: "success" })
      expect(await updatedBy(name)).toEqual(expected.map((host) => `LAB-${host}`))
    })

    it("are refused in testing mode, and if no Windows machine is named", async () => {
      expect((await refused(update("LAB-web01"))).kind).toBe("precondition")
      expect((await refused(update("nobody"))).kind).toBe("precondition")
      expect((await refused(update(" "))).kind).toBe("invalid")
      await start()
      expect((await refused(update("LAB-ws01"))).kind).toBe("conflict")
    })

    it("that fail show in their run", async () => {
      breaks("guest", () => true, "windows-update")
      const { runID } = await update("LAB-ws01")
      expect(await service.end(ada, runID)).toMatchObject({ status: "failure" })
      heals()
    })
  })
})
