import type { Vmid } from "@rangewright/domain"
import {
  GuestAutomation,
  type GuestTask,
  Hypervisor,
  HypervisorAccess,
  HypervisorFault,
  type HypervisorReason,
  type MachineAction,
} from "@rangewright/ports"
import type { Fault } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { asRoot, makeRig, type Rig } from "./support/rig.ts"
import { cloneOf, configureOf, deleteOf, perform, rangeId, reasonOf, refOf, startOf, stopOf } from "./support/under-test.ts"

type Kind = "clone" | "configure" | "start" | "stop" | "delete"
const kinds: readonly Kind[] = ["clone", "configure", "start", "stop", "delete"]

const actionOf = (rig: Rig, kind: Kind): MachineAction => {
  const ref = refOf(rig)
  return { clone: cloneOf(rig, ref), configure: configureOf(ref), start: startOf(ref), stop: stopOf(ref), delete: deleteOf(ref) }[
    kind
  ]
}

/** The request that has the effect, as the simulator's fault plan matches it. */
const requestOf = (kind: Kind): { readonly method: string; readonly path: string } => {
  switch (kind) {
    case "clone":
      return { method: "POST", path: "/nodes/*/qemu/*/clone" }
    case "configure":
      return { method: "PUT", path: "/nodes/*/qemu/*/config" }
    case "start":
    case "stop":
      return { method: "POST", path: `/nodes/*/qemu/*/status/${kind}` }
    case "delete":
      return { method: "DELETE", path: "/nodes/*/qemu/*" }
  }
}

/** Puts the machine into a state in which the action has something to do. */
const prepared = async (rig: Rig, kind: Kind): Promise<void> => {
  const ref = refOf(rig)
  await rig.run(HypervisorAccess.use((access) => access.ensurePool(rangeId)))
  if (kind !== "clone") await rig.run(perform(cloneOf(rig, ref)))
  if (kind === "stop") await rig.run(perform(startOf(ref)))
}

const reached = (rig: Rig, kind: Kind): boolean => {
  const guest = rig.sim.guest(refOf(rig).vmid)
  switch (kind) {
    case "clone":
      return guest !== undefined && guest.config["lock"] === undefined
    case "configure":
      return Number(guest?.config["cores"]) === 3
    case "start":
      return guest?.status === "running"
    case "stop":
      return guest?.status === "stopped"
    case "delete":
      return guest === undefined
  }
}

const taskType: Record<Kind, string> = { clone: "qmclone", configure: "", start: "qmstart", stop: "qmstop", delete: "qmdestroy" }

/** How often the effect happened: successful tasks, or configuration changes. */
const effects = (rig: Rig, kind: Kind): number =>
  [...rig.sim.state.tasks.values()].filter((task) => task.type === taskType[kind] && task.exitstatus === "OK").length

interface Case {
  readonly title: string
  readonly fault: (kind: Kind) => Fault
  readonly reason: HypervisorReason
  /** True if the first attempt had its effect although it failed. */
  readonly effective?: boolean
}

const respond =
  (status: number, message: string, when: "before" | "after" = "before") =>
  (kind: Kind): Fault => ({ kind: "respond", match: requestOf(kind), when, status, message })

const cases: readonly Case[] = [
  { title: "400", fault: respond(400, "Parameter verification failed."), reason: "invalid" },
  { title: "403", fault: respond(403, "Permission check failed (/vms/20001, VM.Allocate)"), reason: "forbidden" },
  { title: "401", fault: respond(401, ""), reason: "unauthenticated" },
  { title: "500 config lock", fault: respond(500, "VM is locked (backup)"), reason: "locked" },
  { title: "500", fault: respond(500, "something broke"), reason: "failed" },
  { title: "596 before the effect", fault: respond(596, "Connection timed out"), reason: "unknown-effect" },
  {
    title: "596 after the effect",
    fault: respond(596, "Connection timed out", "after"),
    reason: "unknown-effect",
    effective: true,
  },
  {
    title: "reset before the effect",
    fault: (kind) => ({ kind: "drop", match: requestOf(kind), when: "before" }),
    reason: "unknown-effect",
  },
  {
    title: "reset after the effect",
    fault: (kind) => ({ kind: "drop", match: requestOf(kind), when: "after" }),
    reason: "unknown-effect",
    effective: true,
  },
  {
    title: "garbage after the effect",
    fault: (kind) => ({ kind: "garbage", match: requestOf(kind), when: "after" }),
    reason: "unknown-effect",
    effective: true,
  },
]

describe("a failing call", () => {
  for (const kind of kinds)
    for (const { title, fault, reason, effective } of cases)
      it(`${kind}, ${title}: fails with \`${reason}\`, and repeating it converges without a second effect`, async () => {
        const rig = makeRig()
        await prepared(rig, kind)
        const action = actionOf(rig, kind)
        const before = effects(rig, kind)
        rig.sim.faults.add(fault(kind))
        expect(await rig.run(reasonOf(perform(action)))).toBe(reason)
        if (effective !== true) expect(reached(rig, kind)).toBe(false)
        await rig.restarted().run(perform(action))
        expect(reached(rig, kind)).toBe(true)
        // stopping a machine that is off has no effect, but a task of its own
        if (taskType[kind] !== "" && kind !== "stop") expect(effects(rig, kind)).toBe(before + 1)
        await rig.close()
      })

  const harmless: readonly (readonly [number, string])[] = [
    [595, "Connection refused"],
    [500, "can't lock file '/var/lock/qemu-server/lock-20001.conf' - got timeout"],
    [500, "cluster not ready - no quorum?"],
    [500, "got no worker upid - start worker failed"],
  ]
  for (const kind of kinds)
    for (const [status, message] of harmless)
      it(`${kind}, ${status} (${message}) once: nothing had happened, so it is sent again and succeeds`, async () => {
        const rig = makeRig()
        await prepared(rig, kind)
        rig.sim.faults.add(respond(status, message)(kind))
        await rig.run(perform(actionOf(rig, kind)))
        expect(reached(rig, kind)).toBe(true)
        await rig.close()
      })

  it("a node that is down: `away`, and nothing is done until it is back", async () => {
    const rig = makeRig()
    await prepared(rig, "start")
    const down = rig.sim.faults.add({ kind: "node-down", node: rig.node })
    expect(await rig.run(reasonOf(perform(actionOf(rig, "start"))))).toBe("away")
    rig.sim.faults.remove(down)
    await rig.run(perform(actionOf(rig, "start")))
    expect(reached(rig, "start")).toBe(true)
    await rig.close()
  })

  it("reads survive two failures of any sort in a row", async () => {
    for (const fault of [
      { kind: "drop", when: "before" },
      { kind: "garbage", when: "before" },
      { kind: "respond", when: "before", status: 596, message: "" },
    ] as const) {
      const rig = makeRig()
      rig.sim.faults.add({ ...fault, match: { path: "/cluster/resources" }, times: 2 })
      expect((await rig.run(Hypervisor.use((h) => h.observe))).nodes).toHaveLength(1)
      await rig.close()
    }
  })

  it("a hypervisor that answers nothing usable is `away`", async () => {
    const rig = makeRig()
    rig.sim.faults.add({ kind: "garbage", when: "before", times: "always" })
    expect(await rig.run(reasonOf(Hypervisor.use((h) => h.observe)))).toBe("away")
  })
})

describe("a failing task", () => {
  const taskKinds = kinds.filter((kind) => kind !== "configure")
  for (const kind of taskKinds)
    it(`${kind}: its message decides the reason, and repeating it converges`, async () => {
      const rig = makeRig()
      await prepared(rig, kind)
      const type = taskType[kind]
      rig.sim.faults.add({
        kind: "fail-task",
        type,
        when: "before",
        text: "cfs-lock 'storage-local' error: got lock request timeout",
      })
      expect(await rig.run(reasonOf(perform(actionOf(rig, kind))))).toBe("locked")
      rig.sim.faults.add({ kind: "fail-task", type, when: "before", text: "the disk is on fire" })
      expect(await rig.run(reasonOf(perform(actionOf(rig, kind))))).toBe("failed")
      await rig.run(perform(actionOf(rig, kind)))
      expect(reached(rig, kind)).toBe(true)
      await rig.close()
    })

  for (const kind of taskKinds)
    it(`${kind}: a task that failed after its effect is a success`, async () => {
      const rig = makeRig()
      await prepared(rig, kind)
      rig.sim.faults.add({ kind: "fail-task", type: taskType[kind], when: "after", text: "the log could not be written" })
      await rig.run(perform(actionOf(rig, kind)))
      expect(reached(rig, kind)).toBe(true)
      await rig.close()
    })

  for (const kind of taskKinds)
    it(`${kind}: a task that vanished after its effect is a success, by observation`, async () => {
      const rig = makeRig()
      await prepared(rig, kind)
      rig.sim.faults.add({ kind: "vanish-task", type: taskType[kind], when: "after" })
      await rig.run(perform(actionOf(rig, kind)))
      expect(reached(rig, kind)).toBe(true)
      await rig.close()
    })

  for (const kind of taskKinds)
    it(`${kind}: a task that somebody stopped is \`unknown-effect\`, and repeating it converges`, async () => {
      const rig = makeRig()
      await prepared(rig, kind)
      const action = actionOf(rig, kind)
      const { token } = await rig.run(Hypervisor.use((h) => h.dispatch(action)))
      const task = [...rig.sim.state.tasks.values()].findLast(({ type }) => type === taskType[kind])
      expect(token).toEqual({ task: task?.upid })
      const stopTask = asRoot.bind(
        undefined,
        rig.sim,
        "DELETE",
        `/nodes/${rig.node}/tasks/${encodeURIComponent(task?.upid ?? "")}`,
      )
      await rig.run(Effect.promise(() => stopTask()))
      expect(await rig.run(reasonOf(Hypervisor.use((h) => h.settle(action, token))))).toBe("unknown-effect")
      await rig.run(perform(action))
      expect(reached(rig, kind)).toBe(true)
      await rig.close()
    })

  it.each(["backup", "migrate", "snapshot"])("a clone of ours is ours when something has locked it since (%s)", async (lock) => {
    const rig = makeRig()
    await prepared(rig, "clone")
    const action = actionOf(rig, "clone")
    const { token } = await rig.run(Hypervisor.use((h) => h.dispatch(action)))
    await rig.run(Hypervisor.use((h) => h.settle(action, token)))
    Object.assign(rig.sim.guest(20_001)!.config, { lock })
    await rig.run(Hypervisor.use((h) => h.settle(action, token)))
    await rig.close()
  })

  it("a machine left locked by a killed clone is not touched: the fault says how to remove it", async () => {
    const rig = makeRig()
    await prepared(rig, "clone")
    await rig.stranger(20_001)
    const leftOver = rig.sim.guest(20_001)
    expect(leftOver).toBeDefined()
    Object.assign(leftOver!.config, { lock: "clone" })
    const fault = await rig.run(Effect.flip(perform(actionOf(rig, "clone"))))
    expect(fault.facts.reason).toBe("failed")
    expect(fault.hint).toContain("qm unlock 20001")
    rig.sim.state.guests.delete(20_001)
    await rig.run(perform(actionOf(rig, "clone")))
    expect(reached(rig, "clone")).toBe(true)
    await rig.close()
  })

  it("a machine left locked by a killed clone is recognized while others clone", async () => {
    const rig = makeRig()
    await prepared(rig, "clone")
    await rig.stranger(20_001)
    Object.assign(rig.sim.guest(20_001)!.config, { lock: "clone" })
    const { node, vmid } = rig.template
    const others = Effect.gen(function* () {
      for (let newid = 30_000; ; newid += 1) {
        yield* Effect.promise(() => asRoot(rig.sim, "POST", `/nodes/${node}/qemu/${vmid}/clone`, `newid=${newid}&full=1`))
        yield* Effect.sleep("5 seconds")
      }
    })
    const fault = await rig.run(
      Effect.raceFirst(others, Effect.timeout(Effect.flip(perform(actionOf(rig, "clone"))), "20 minutes")),
    )
    expect(fault).toMatchObject({ facts: { reason: "failed", detail: expect.stringContaining("was interrupted") as string } })
    await rig.close()
  })

  it("a machine whose clone broke off right before it joined its pool is ours", async () => {
    const rig = makeRig()
    await prepared(rig, "start")
    await asRoot(rig.sim, "PUT", "/pools", `poolid=${rangeId}&vms=20001&delete=1`)
    await rig.run(perform(actionOf(rig, "clone")))
    expect(effects(rig, "clone")).toBe(1)
    await rig.close()
  })

  it("a machine whose agent never responds ends in a fault that says so", async () => {
    const rig = makeRig()
    await prepared(rig, "start")
    rig.sim.faults.add({ kind: "silent-agent", vmid: refOf(rig).vmid })
    const fault = await rig.run(Effect.flip(perform(startOf(refOf(rig), true))))
    expect(fault).toBeInstanceOf(HypervisorFault)
    expect(fault.message).toContain("no answer within 15 min")
    await rig.close()
  })

  it.each([
    ["without a wait for its agent", false],
    ["by a request that was aborted while it waited", true],
  ])("a machine that was started an hour ago %s is found ready", async (_how, untilAgent) => {
    const rig = makeRig()
    await prepared(rig, "start")
    const ref = refOf(rig)
    await rig.run(
      Effect.gen(function* () {
        yield* Effect.timeoutOption(perform(startOf(ref, untilAgent)), "10 seconds")
        yield* Effect.sleep("1 hour")
        yield* perform(startOf(ref, true))
      }),
    )
    expect(rig.sim.guest(ref.vmid)?.boot.kind).toBe("up")
    await rig.close()
  })

  it("a machine that goes off while it boots is not waited for any longer", async () => {
    const rig = makeRig()
    await prepared(rig, "start")
    const ref = refOf(rig)
    rig.sim.faults.add({ kind: "silent-agent", vmid: ref.vmid })
    const fault = await rig.run(
      Effect.gen(function* () {
        const hypervisor = yield* Hypervisor
        const start = startOf(ref, true)
        const { token } = yield* hypervisor.dispatch(start)
        yield* Effect.forkChild(Effect.andThen(Effect.sleep("30 seconds"), perform(stopOf(ref))))
        return yield* Effect.flip(hypervisor.settle(start, token))
      }),
    )
    expect(fault.message).toContain("stopped while it booted")
  })
})

describe("the number of calls", () => {
  const vms = Array.from({ length: 20 }, (_, index) => 20_001 + index)

  it("20 machines are cloned, configured and booted with 3 changing calls each, and at most 2 slow calls at once", async () => {
    const rig = makeRig()
    await rig.run(HypervisorAccess.use((access) => access.ensurePool(rangeId)))
    const before = rig.sim.calls.counts()
    await rig.run(
      Effect.forEach(
        vms,
        (vmid) =>
          Effect.gen(function* () {
            const ref = refOf(rig, vmid)
            yield* perform(cloneOf(rig, ref))
            yield* perform(configureOf(ref))
            yield* perform(startOf(ref, true))
          }),
        { concurrency: 4 },
      ),
    )
    const after = rig.sim.calls.counts()
    expect(after.mutating - before.mutating).toBe(3 * vms.length)
    expect((after.reads - before.reads) / vms.length).toBeLessThan(40)
    expect(vms.map((vmid) => rig.sim.guest(vmid as Vmid)?.boot.kind)).toEqual(vms.map(() => "up"))
    await rig.close()
  })

  it("observing the cluster is one call", async () => {
    const rig = makeRig()
    const before = rig.sim.calls.counts().total
    await rig.run(Hypervisor.use((h) => h.observe))
    expect(rig.sim.calls.counts().total - before).toBe(1)
  })
})

describe("a failing stage", () => {
  it("fails with the program's output, without the secrets of its input", async () => {
    const rig = makeRig()
    await prepared(rig, "start")
    const ref = refOf(rig)
    await rig.run(perform(startOf(ref, true)))
    rig.sim.faults.add({ kind: "fail-stage", stage: "domain-join", text: "cannot join with password Tr0ub4dor&3: access denied" })
    const task: GuestTask = {
      machine: ref,
      name: ref.mark.machine,
      os: "linux",
      stage: "domain-join",
      input: { domain: "corp.example", password: "Tr0ub4dor&3" },
      verbose: false,
    }
    const run = GuestAutomation.use((guests) => Effect.flatMap(guests.dispatch(task), ({ token }) => guests.settle(task, token)))
    const fault = await rig.run(Effect.flip(run))
    expect(fault.facts.reason).toBe("failed")
    expect(fault.message).toContain("access denied")
    expect(fault.message).not.toContain("Tr0ub4dor")
    const { facts, output } = await rig.run(run)
    expect(facts.changed).toBe(true)
    expect(output).not.toContain("Tr0ub4dor")
    await rig.close()
  })

  it("with an input too large for the agent is refused, naming the size", async () => {
    const rig = makeRig()
    await prepared(rig, "start")
    const task: GuestTask = {
      machine: refOf(rig),
      name: "vm",
      os: "linux",
      stage: "packages",
      input: { packages: "x".repeat(70_000) },
      verbose: false,
    }
    const fault = await rig.run(Effect.flip(GuestAutomation.use((guests) => guests.dispatch(task))))
    expect(fault.facts.reason).toBe("unsupported")
    expect(fault.message).toContain("65536")
    await rig.close()
  })
})
