import { handlerTransport } from "@rangewright/adapter-proxmox"
import type { MachineRef } from "@rangewright/domain"
import { Hypervisor, HypervisorAccess } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { asRoot, makeRig, type Rig } from "./support/rig.ts"
import {
  cloneOf,
  configureOf,
  perform,
  rangeId,
  reasonOf,
  refOf,
  removeOf,
  rollBackOf,
  startOf,
  takeOf,
} from "./support/under-test.ts"

const made = async (rig: Rig): Promise<MachineRef> => {
  const ref = refOf(rig)
  const withPool = HypervisorAccess.use((access) => access.ensurePool(rangeId))
  await rig.run(Effect.andThen(withPool, perform(cloneOf(rig, ref))))
  await rig.run(perform(configureOf(ref)))
  return ref
}
const namesOf = (rig: Rig, { vmid }: MachineRef) => [...(rig.sim.guest(vmid)?.snapshots.keys() ?? [])]
const warningsOf = (action: Parameters<typeof perform>[0]) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    const { token } = yield* hypervisor.dispatch(action)
    return yield* hypervisor.settle(action, token)
  })

/** Seconds that a guest's clock is behind its node's. */
const behindOf = (rig: Rig, { vmid }: MachineRef) => (rig.sim.guest(vmid)?.clockBehind ?? 0) / 1000
/** A machine that runs from memory saved an hour ago. */
const savedAnHourAgo = async (rig: Rig, ref: MachineRef) => {
  await rig.run(perform(startOf(ref, true)))
  await rig.run(perform(takeOf(ref, "running", true)))
  await rig.run(Effect.sleep("1 hour"))
}

/** A rig that ends with the test. */
const onRig = (body: (rig: Rig, ref: MachineRef) => Promise<void>) => async () => {
  const rig = makeRig()
  await body(rig, await made(rig))
  await rig.close()
}

describe("snapshots on Proxmox", () => {
  it(
    "a task that continues after its answer was lost is found, and no second one is begun",
    onRig(async (rig, ref) => {
      await rig.run(perform(startOf(ref, true)))
      rig.sim.faults.add({
        kind: "respond",
        match: { method: "POST", path: "/nodes/*/qemu/*/snapshot" },
        when: "after",
        status: 596,
        message: "",
      })
      const take = takeOf(ref, "clean", true)
      expect(await rig.run(reasonOf(perform(take)))).toBe("unknown-effect")
      // it begins, and takes its time
      await rig.run(Effect.sleep("200 millis"))
      expect(rig.sim.guest(ref.vmid)?.config["lock"]).toBe("snapshot")
      rig.sim.calls.clear()
      await rig.restarted().run(perform(take))
      expect(rig.sim.calls.counts().mutating).toBe(0)
      expect(namesOf(rig, ref)).toEqual(["clean"])
    }),
  )

  it(
    "a task of ours that ends during the check is not mistaken for somebody else's lock",
    onRig(async (rig, ref) => {
      const take = takeOf(ref)
      await rig.run(Hypervisor.use((hypervisor) => hypervisor.dispatch(take)))
      const isLocked = () => rig.sim.guest(ref.vmid)?.config["lock"] === "snapshot"
      while (!isLocked()) await rig.passTime()
      const transport = handlerTransport(async (request) => {
        while (request.path.includes("/cluster/tasks") && isLocked()) await rig.passTime()
        return rig.sim.handle(request)
      })
      await rig.as({ transport }).run(perform(take))
      expect(namesOf(rig, ref)).toEqual(["clean"])
    }),
  )

  for (const when of ["before", "after"] as const)
    it(
      `a task that was forgotten ${when} its effect is settled by observation`,
      onRig(async (rig, ref) => {
        for (const [type, action] of [
          ["qmsnapshot", takeOf(ref)],
          ["qmrollback", rollBackOf(ref, "clean", { digest: "the digest of before" })],
          ["qmdelsnapshot", removeOf(ref)],
        ] as const) {
          rig.sim.faults.add({ kind: "vanish-task", type, when })
          const first = await rig.run(reasonOf(perform(action)))
          expect(["no failure", "unknown-effect"]).toContain(first)
          expect(await rig.run(reasonOf(perform(action)))).toBe("no failure")
          if (type === "qmsnapshot") expect(namesOf(rig, ref)).toEqual(["clean"])
        }
        expect(namesOf(rig, ref)).toEqual([])
      }),
    )

  it(
    "a snapshot whose task fails fails with the hypervisor's error, and is taken the next time",
    onRig(async (rig, ref) => {
      rig.sim.faults.add({
        kind: "fail-task",
        type: "qmsnapshot",
        nth: 1,
        text: "lvcreate error: out of data space",
        when: "before",
      })
      expect(await rig.run(Effect.flip(perform(takeOf(ref))))).toMatchObject({
        message: expect.stringContaining("lvcreate error"),
        facts: { reason: expect.stringMatching(/failed|exhausted/u) },
      })
      rig.sim.faults.clear()
      await rig.run(perform(takeOf(ref)))
      expect(namesOf(rig, ref)).toEqual(["clean"])
    }),
  )

  it(
    "a machine with another lock is waited for, and nothing is begun",
    onRig(async (rig, ref) => {
      await rig.run(perform(takeOf(ref)))
      for (const lock of ["backup", "snapshot"]) {
        rig.sim.guest(ref.vmid)!.config["lock"] = lock
        rig.sim.calls.clear()
        for (const action of [takeOf(ref, "later"), rollBackOf(ref), removeOf(ref)])
          expect(await rig.run(reasonOf(perform(action)))).toBe("locked")
        expect(rig.sim.calls.counts().mutating).toBe(0)
      }
    }),
  )

  it(
    "a snapshot that may still be in progress is not taken for gone",
    onRig(async (rig, ref) => {
      rig.sim.guest(ref.vmid)!.config["lock"] = "snapshot"
      expect(await rig.run(reasonOf(perform({ ...removeOf(ref), description: "x" })))).toBe("locked")
    }),
  )

  it(
    "a requested snapshot that has not begun is not taken for gone",
    onRig(async (rig, ref) => {
      rig.sim.faults.add({
        kind: "respond",
        match: { method: "POST", path: "/nodes/*/qemu/*/snapshot" },
        when: "after",
        status: 596,
        message: "",
      })
      const take = takeOf(ref)
      expect(await rig.run(reasonOf(perform(take)))).toBe("unknown-effect")
      expect(rig.sim.guest(ref.vmid)?.config["lock"]).toBeUndefined()
      expect(await rig.run(reasonOf(perform({ ...removeOf(ref), description: take.snapshot.description })))).toBe("locked")
    }),
  )

  it(
    "a machine that somebody else locks before our task can is waited for, and not taken for broken",
    onRig(async (rig, ref) => {
      rig.sim.faults.add({ kind: "fail-task", type: "qmsnapshot", text: "VM is locked (backup)", when: "before" })
      const { token } = await rig.run(Hypervisor.use((hypervisor) => hypervisor.dispatch(takeOf(ref))))
      rig.sim.guest(ref.vmid)!.config["lock"] = "backup"
      expect(await rig.run(reasonOf(Hypervisor.use((hypervisor) => hypervisor.settle(takeOf(ref), token))))).toBe("locked")
    }),
  )

  it(
    "an answer that is no list of snapshots does not mean that there are none",
    onRig(async (rig, ref) => {
      await rig.run(perform(takeOf(ref)))
      const read = Hypervisor.use((hypervisor) => hypervisor.snapshots(ref.node, ref.vmid))
      for (const body of ['{"data":null}', '{"data":{}}', '{"data":[]}'])
        for (const asking of [Effect.asVoid(read), Effect.asVoid(perform(removeOf(ref)))]) {
          rig.sim.faults.add({
            kind: "garbage",
            match: { method: "GET", path: "/nodes/*/qemu/*/snapshot" },
            when: "before",
            body,
          })
          expect(await rig.run(reasonOf(asking))).toBe("away")
        }
      expect(namesOf(rig, ref)).toEqual(["clean"])
    }),
  )

  it(
    "if the memory cannot be restored because a network is gone, the machine is rolled back without it, which is reported",
    onRig(async (rig, ref) => {
      await asRoot(rig.sim, "POST", `/nodes/${ref.node}/network`, "iface=vmbr77&type=bridge&autostart=1&bridge_vlan_aware=1")
      await rig.run(Effect.promise(() => asRoot(rig.sim, "PUT", `/nodes/${ref.node}/network`)))
      await rig.run(Effect.sleep("30 seconds"))
      const { settings } = configureOf(ref)
      const nics = settings.nics.map((nic) => ({ ...nic, bridge: "vmbr77" }))
      await rig.run(perform({ ...configureOf(ref), settings: { ...settings, nics } }))
      await rig.run(perform(startOf(ref, true)))
      await rig.run(perform(takeOf(ref, "running", true)))
      await rig.run(perform(configureOf(ref)))
      await asRoot(rig.sim, "DELETE", `/nodes/${ref.node}/network/vmbr77`)
      await rig.run(Effect.promise(() => asRoot(rig.sim, "PUT", `/nodes/${ref.node}/network`)))
      await rig.run(Effect.sleep("30 seconds"))
      const { digest } = await rig.run(Hypervisor.use((h) => h.detail(ref.node, ref.vmid)))
      expect(await rig.run(warningsOf(rollBackOf(ref, "running", { digest })))).toEqual([
        expect.stringContaining("its memory could not be restored"),
      ])
      await rig.run(perform(configureOf(ref)))
      await rig.run(perform(startOf(ref)))
      expect(rig.sim.guest(ref.vmid)?.status).toBe("running")
    }),
  )

  it(
    "a rollback that did not begin is no success, even for a machine that is on that very snapshot",
    onRig(async (rig, ref) => {
      await rig.run(perform(takeOf(ref)))
      const { digest } = await rig.run(Hypervisor.use((h) => h.detail(ref.node, ref.vmid)))
      rig.sim.faults.add({
        kind: "fail-task",
        type: "qmrollback",
        text: "can't rollback, it is not the most recent one",
        when: "before",
      })
      expect(await rig.run(Effect.flip(perform(rollBackOf(ref, "clean", { digest }))))).toMatchObject({
        message: expect.stringContaining("most recent"),
      })
      rig.sim.faults.clear()
      rig.sim.faults.add({ kind: "vanish-task", type: "qmrollback", when: "before" })
      expect(await rig.run(reasonOf(perform(rollBackOf(ref, "clean", { digest }))))).toBe("unknown-effect")
    }),
  )

  it.each([
    ["Linux", undefined],
    ["Windows", "win11"],
  ])("the clock of a machine with %s that resumes from its memory is set to its node's", async (_, osType) =>
    onRig(async (rig, ref) => {
      if (osType !== undefined) {
        const guest = rig.sim.guest(ref.vmid)!
        guest.config["ostype"] = osType
        guest.os = { ...guest.os!, family: "windows" }
      }
      await savedAnHourAgo(rig, ref)
      expect(await rig.run(warningsOf(rollBackOf(ref, "running")))).toEqual([])
      expect(rig.sim.guest(ref.vmid)?.status).toBe("running")
      expect(behindOf(rig, ref)).toBeLessThan(5)
    })(),
  )

  const obstacles: readonly (readonly [what: string, because: string, spoil: (rig: Rig, ref: MachineRef) => unknown])[] = [
    ["has no agent", "No QEMU guest agent configured", (rig, ref) => delete rig.sim.guest(ref.vmid)!.config["agent"]],
    [
      "does not answer",
      "its guest agent does not answer",
      (rig: Rig) =>
        rig.sim.faults.add({
          kind: "respond",
          match: { method: "GET", path: "/nodes/*/qemu/*/agent/get-time" },
          when: "before",
          status: 500,
          message: "QEMU guest agent is not running",
          times: "always",
        }),
    ],
    ["lacks the command", "exit code 127", (rig, ref) => (rig.sim.guest(ref.vmid)!.config["ostype"] = "win11")],
    [
      "must not be told commands",
      "VM.GuestAgent.Unrestricted",
      (rig: Rig) =>
        rig.sim.faults.add({
          kind: "respond",
          match: { method: "POST", path: "/nodes/*/qemu/*/agent/exec" },
          when: "before",
          status: 403,
          message: "Permission check failed (/vms/20001, VM.GuestAgent.Unrestricted)",
        }),
    ],
    ...['{"data":{"result":"later"}}', '{"data":{"result":1e300}}', '{"data":{"result":[]}}', '{"data":null}'].map(
      (body) =>
        [
          `says ${body}`,
          "does not report the time",
          (rig: Rig) =>
            rig.sim.faults.add({
              kind: "garbage",
              match: { method: "GET", path: "/nodes/*/qemu/*/agent/get-time" },
              when: "before",
              body,
            }),
        ] as const,
    ),
  ]
  it.each(obstacles)(
    "if the clock cannot be corrected because the guest %s, that is reported, and the machine is rolled back",
    (_, because, spoil) =>
      onRig(async (rig, ref) => {
        await savedAnHourAgo(rig, ref)
        spoil(rig, ref)
        for (const snapshot of rig.sim.guest(ref.vmid)!.snapshots.values())
          Object.assign(snapshot, { config: { ...rig.sim.guest(ref.vmid)!.config, vmstate: snapshot.config["vmstate"] } })
        const warnings = await rig.run(warningsOf(rollBackOf(ref, "running")))
        expect(warnings).toEqual([expect.stringMatching(/^its clock was not corrected: .*PUT \/range\/reboot/su)])
        expect(String(warnings?.[0])).toContain(because)
        expect(rig.sim.guest(ref.vmid)?.parent).toBe("running")
        expect(behindOf(rig, ref)).toBeGreaterThan(3000)
      })(),
  )

  it(
    "the clock is set even if the command's answer was lost, or the service was restarted before it",
    onRig(async (rig, ref) => {
      await savedAnHourAgo(rig, ref)
      rig.sim.faults.add({
        kind: "respond",
        match: { method: "POST", path: "/nodes/*/qemu/*/agent/exec" },
        when: "after",
        status: 596,
        message: "",
      })
      expect(await rig.run(warningsOf(rollBackOf(ref, "running")))).toEqual([])
      expect(behindOf(rig, ref)).toBeLessThan(5)

      const { generation } = await rig.run(Hypervisor.use((h) => h.detail(ref.node, ref.vmid)))
      const again = rollBackOf(ref, "running", { generation })
      await rig.run(Hypervisor.use((hypervisor) => hypervisor.dispatch(again)))
      await rig.run(Effect.sleep("1 minute"))
      expect(behindOf(rig, ref)).toBeGreaterThan(3000)
      expect(await rig.restarted().run(warningsOf(again))).toEqual([])
      expect(behindOf(rig, ref)).toBeLessThan(5)
    }),
  )
})
