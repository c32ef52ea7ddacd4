import { carriesMark, type MachineDetail, macOf, type RangeId, readDescription, writeDescription } from "@rangewright/domain"
import { Hypervisor, HypervisorAccess } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import {
  cloneOf,
  configureOf,
  deleteOf,
  type HypervisorUnderTest,
  onWorld,
  perform,
  rangeId,
  reasonOf,
  refOf,
  removeOf,
  rollBackOf,
  startOf,
  stopOf,
  takeOf,
  vmidOf,
  type World,
} from "./support/under-test.ts"

const detailOf = (world: World, vmid: number) => Hypervisor.use((h) => h.detail(world.node, vmidOf(vmid)))
const machineOf = (vmid: number) =>
  Effect.map(
    Hypervisor.use((h) => h.observe),
    ({ machines }) => machines.find((machine) => machine.vmid === vmid),
  )
const addressesOf = (world: World, vmid: number) =>
  Effect.gen(function* () {
    const hypervisor = yield* Hypervisor
    for (let waited = 0; ; waited += 1) {
      const found = yield* hypervisor.addresses(world.node, vmidOf(vmid))
      if (found.length > 0 || waited === 120) return found
      yield* Effect.sleep("1 second")
    }
  })
const withPool = HypervisorAccess.use((access) => access.ensurePool(rangeId))
const cloned = (world: World) => {
  const ref = refOf(world)
  return Effect.as(Effect.andThen(withPool, perform(cloneOf(world, ref))), ref)
}

/** The tests that every adapter of the machines' port passes. */
export const hypervisorContract = (hypervisor: HypervisorUnderTest): void => {
  describe(`${hypervisor.name}: machines`, () => {
    const promises = (title: string, body: (world: World) => Promise<void>) => it(title, onWorld(hypervisor, body))

    promises("observes nodes, storages and machines, templates among them", async (world) => {
      const cluster = await world.run(Hypervisor.use((h) => h.observe))
      expect(cluster.nodes.map((node) => node.name)).toContain(world.node)
      expect(cluster.nodes.every((node) => node.online && node.memoryMiB > 0)).toBe(true)
      expect(cluster.storages.some((storage) => storage.node === world.node && storage.active)).toBe(true)
      expect(cluster.machines.find((machine) => machine.vmid === world.template.vmid)?.template).toBe(true)
    })

    promises("clones a template into the pool, with name and mark from the first moment", async (world) => {
      const ref = await world.run(cloned(world))
      const detail = await world.run(detailOf(world, ref.vmid))
      expect(detail.name).toBe(ref.mark.machine)
      expect(detail.template).toBe(false)
      expect(carriesMark(detail.description, ref.mark)).toBe(true)
      expect((await world.run(machineOf(ref.vmid)))?.pool).toBe(rangeId)
    })

    promises("observes a pool: everything but the machines outside of it, and none if there is no pool", async (world) => {
      await world.stranger(20_005)
      const ref = await world.run(cloned(world))
      const [all, pool, none] = await world.run(
        Hypervisor.use((h) => Effect.all([h.observe, h.observePool(rangeId), h.observePool("NO-SUCH-POOL")])),
      )
      for (const seen of [pool, none]) {
        expect(seen.nodes.map(({ name, online }) => [name, online])).toEqual(all.nodes.map(({ name, online }) => [name, online]))
        expect(seen.storages).toEqual(all.storages)
      }
      expect(pool.machines).toMatchObject([{ vmid: ref.vmid, node: world.node, pool: rangeId, template: false, tags: [] }])
      expect(none.machines).toEqual([])
    })

    promises("a clone that exists already is a success with nothing to wait for", async (world) => {
      const ref = await world.run(cloned(world))
      const again = await world.restarted().run(Hypervisor.use((h) => h.dispatch(cloneOf(world, ref))))
      expect(again.token).toBeNull()
    })

    promises("a clone dispatched twice at once makes one machine, and both settle", async (world) => {
      const ref = refOf(world)
      const clone = cloneOf(world, ref)
      await world.run(
        Effect.gen(function* () {
          yield* withPool
          const hypervisor = yield* Hypervisor
          const first = yield* hypervisor.dispatch(clone)
          const second = yield* hypervisor.dispatch(clone)
          yield* hypervisor.settle(clone, first.token)
          yield* hypervisor.settle(clone, second.token)
        }),
      )
      const { machines } = await world.run(Hypervisor.use((h) => h.observe))
      expect(machines.filter((machine) => machine.vmid === ref.vmid)).toHaveLength(1)
    })

    promises("a clone settles for a process that did not dispatch it", async (world) => {
      const clone = cloneOf(world, refOf(world))
      const { token } = await world.run(
        Effect.andThen(
          withPool,
          Hypervisor.use((h) => h.dispatch(clone)),
        ),
      )
      await world.restarted().run(Hypervisor.use((h) => h.settle(clone, token)))
      expect(world.exists(clone.machine.vmid)).toBe(true)
    })

    promises("cloning to a VMID in use by others fails with `taken` and leaves that VM alone", async (world) => {
      await world.stranger(20_001)
      const reason = await world.run(Effect.andThen(withPool, reasonOf(perform(cloneOf(world, refOf(world))))))
      expect(reason).toBe("taken")
      expect(carriesMark((await world.run(detailOf(world, 20_001))).description, refOf(world).mark)).toBe(false)
    })

    promises(
      "a VM with the machine's mark in another pool is not the machine: who may make VMs there can write any mark",
      async (world) => {
        const ref = refOf(world)
        const other = "OTHER" as RangeId
        await world.run(
          Effect.gen(function* () {
            yield* withPool
            yield* HypervisorAccess.use((access) => access.ensurePool(other))
            yield* perform({ ...cloneOf(world, ref), name: "theirs", pool: other })
          }),
        )
        for (const observer of [world, world.restarted()])
          expect(await observer.run(reasonOf(perform(cloneOf(world, ref))))).toBe("taken")
        expect(await world.run(machineOf(ref.vmid))).toMatchObject({ pool: other })
      },
    )

    promises("configures everything in one action", async (world) => {
      const ref = await world.run(cloned(world))
      await world.run(perform(configureOf(ref)))
      const detail = await world.run(detailOf(world, ref.vmid))
      expect(detail).toMatchObject({ cpus: 3, memoryMiB: 4096, balloonMiB: undefined })
      expect(detail.nics).toEqual([
        { index: 0, model: "virtio", mac: macOf(ref.vmid, 0), bridge: "vmbr1000", tag: 10, firewall: false },
      ])
      expect(JSON.parse(detail.description)).toMatchObject({ groups: ["linux", "server"] })
    })

    promises("configuring again changes nothing", async (world) => {
      const ref = await world.run(cloned(world))
      await world.run(perform(configureOf(ref)))
      const before = await world.run(detailOf(world, ref.vmid))
      expect(await world.run(perform(configureOf(ref)))).toBeNull()
      expect(await world.run(detailOf(world, ref.vmid))).toEqual(before)
    })

    promises(
      "notes that somebody wrote since it was planned stay around our line, and alone are nothing to write",
      async (world) => {
        const ref = await world.run(cloned(world))
        const planned = configureOf(ref)
        const before = await world.run(detailOf(world, ref.vmid))
        const note = (text: string) => world.others.describe(world.node, ref.vmid, text)
        await note(`# Web server\n\n${before.description.trim()}\nlogin: admin / secret`)
        await world.run(perform(planned))
        const after = await world.run(detailOf(world, ref.vmid))
        const ours = planned.settings.description
        expect(after.description.trim()).toBe(`# Web server\n\n${ours}\nlogin: admin / secret`)
        await note(`Ask Jo first\n${ours}`)
        const noted = await world.run(detailOf(world, ref.vmid))
        expect(await world.run(perform(planned))).toBeNull()
        // of a plan of an older version, which froze the notes of its time
        const description = `older note\n${ours}`
        expect(await world.run(perform({ ...planned, settings: { ...planned.settings, description } }))).toBeNull()
        expect(await world.run(detailOf(world, ref.vmid))).toEqual(noted)
      },
    )

    promises(
      "notes that leave no room for a changed line are an error that names the VM, and nothing is changed",
      async (world) => {
        const ref = await world.run(cloned(world))
        const old = (await world.run(detailOf(world, ref.vmid))).description.trim()
        await world.others.describe(world.node, ref.vmid, `${"x".repeat(8192 - old.length - 1)}\n${old}`)
        const before = await world.run(detailOf(world, ref.vmid))
        const fault = await world.run(Effect.flip(perform(configureOf(ref))))
        expect(fault.facts).toMatchObject({
          reason: "invalid",
          hint: `Shorten the notes of VM ${ref.vmid} in Proxmox and try again.`,
        })
        expect(await world.run(detailOf(world, ref.vmid))).toEqual(before)
      },
    )

    promises("a network card that is no longer wanted is removed", async (world) => {
      const ref = await world.run(cloned(world))
      const configure = configureOf(ref)
      const [first] = configure.settings.nics
      const second = { ...first!, index: 1, mac: macOf(ref.vmid, 1), tag: undefined }
      await world.run(perform({ ...configure, settings: { ...configure.settings, nics: [first!, second] } }))
      expect((await world.run(detailOf(world, ref.vmid))).nics).toHaveLength(2)
      await world.run(perform(configure))
      expect((await world.run(detailOf(world, ref.vmid))).nics).toEqual([first])
    })

    promises("starts and stops; each again is a success with nothing to wait for", async (world) => {
      const ref = await world.run(cloned(world))
      await world.run(perform(startOf(ref)))
      expect(await world.run(perform(startOf(ref)))).toBeNull()
      await world.run(perform(stopOf(ref)))
      expect(await world.run(perform(stopOf(ref)))).toBeNull()
    })

    promises("a settled power change is observed at once", async (world) => {
      const ref = await world.run(cloned(world))
      const power = Effect.map(machineOf(ref.vmid), (machine) => machine?.power)
      expect(await world.run(Effect.andThen(perform(startOf(ref)), power))).toBe("running")
      expect(await world.run(Effect.andThen(perform(stopOf(ref)), power))).toBe("stopped")
      expect(await world.run(Effect.andThen(perform(startOf(ref, true)), power))).toBe("running")
      expect(await world.run(Effect.andThen(perform({ kind: "shutdown", machine: ref, timeoutSeconds: 120 }), power))).toBe(
        "stopped",
      )
    })

    promises("a start that waits for the agent ends when the guest responds and has an address", async (world) => {
      const ref = await world.run(cloned(world))
      expect(await world.run(Hypervisor.use((h) => h.addresses(world.node, ref.vmid)))).toEqual([])
      expect(await world.run(Hypervisor.use((h) => h.sessions(world.node, ref.vmid)))).toBeUndefined()
      expect(await world.run(Hypervisor.use((h) => h.system(world.node, ref.vmid)))).toBeUndefined()
      await world.run(perform(configureOf(ref)))
      await world.run(perform(startOf(ref, true)))
      // the network comes up some time after the agent
      const addresses = await world.run(addressesOf(world, ref.vmid))
      expect(addresses.length).toBeGreaterThan(0)
      expect(addresses.every((address) => !/^(?:127|169\.254)\./u.test(address))).toBe(true)
      expect(await world.run(Hypervisor.use((h) => h.sessions(world.node, ref.vmid)))).toBeInstanceOf(Array)
      expect(await world.run(Hypervisor.use((h) => h.system(world.node, ref.vmid)))).toMatchObject({ id: "debian" })
    })

    promises("shuts down a guest that responds", async (world) => {
      const ref = await world.run(cloned(world))
      await world.run(perform(startOf(ref, true)))
      await world.run(perform({ kind: "shutdown", machine: ref, timeoutSeconds: 120 }))
      expect(await world.run(perform(stopOf(ref)))).toBeNull()
    })

    promises("deletes a stopped machine; deleting it again is a success", async (world) => {
      const ref = await world.run(cloned(world))
      await world.run(perform(deleteOf(ref)))
      expect(world.exists(ref.vmid)).toBe(false)
      expect(await world.run(reasonOf(detailOf(world, ref.vmid)))).toBe("not-found")
      expect(await world.restarted().run(perform(deleteOf(ref)))).toBeNull()
    })

    for (const kind of [
      "configure",
      "start",
      "stop",
      "shutdown",
      "delete",
      "take-snapshot",
      "roll-back",
      "remove-snapshot",
    ] as const)
      promises(`never does ${kind} to a machine without our mark`, async (world) => {
        await world.stranger(20_001)
        const ref = refOf(world)
        const action = {
          configure: configureOf(ref),
          start: startOf(ref),
          stop: stopOf(ref),
          shutdown: { kind: "shutdown" as const, machine: ref, timeoutSeconds: 30 },
          delete: deleteOf(ref),
          "take-snapshot": takeOf(ref),
          "roll-back": rollBackOf(ref),
          "remove-snapshot": removeOf(ref),
        }[kind]
        const before = await world.run(detailOf(world, 20_001))
        expect(await world.run(reasonOf(perform(action)))).toBe("not-ours")
        expect(await world.run(detailOf(world, 20_001))).toEqual(before)
      })

    promises("never touches a template, whatever a reference says", async (world) => {
      const ref = refOf(world, world.template.vmid)
      expect(await world.run(reasonOf(perform(deleteOf(ref))))).toBe("not-ours")
      expect(await world.run(reasonOf(perform(startOf(ref))))).toBe("not-ours")
      expect(world.exists(world.template.vmid)).toBe(true)
    })

    promises("a machine whose VMID somebody else has taken is not deleted", async (world) => {
      const ref = await world.run(cloned(world))
      await world.run(perform(deleteOf(ref)))
      await world.stranger(ref.vmid)
      expect(await world.run(reasonOf(perform(deleteOf(ref))))).toBe("not-ours")
      expect(world.exists(ref.vmid)).toBe(true)
    })

    promises("a foreign machine that has taken our machine's place is neither started nor stopped", async (world) => {
      const ref = refOf(world)
      await world.run(
        Effect.gen(function* () {
          yield* withPool
          yield* perform(cloneOf(world, ref))
          yield* perform(startOf(ref))
          yield* perform(stopOf(ref))
          yield* Effect.promise(() => world.remove(ref.vmid).then(() => world.stranger(ref.vmid)))
          expect(yield* reasonOf(perform(startOf(ref)))).toBe("not-ours")
          expect(yield* reasonOf(perform(stopOf(ref)))).toBe("not-ours")
        }),
      )
    })

    promises("an adopted foreign machine is ours from then on, and adopting it again is a success", async (world) => {
      await world.stranger(20_001)
      const ref = refOf(world)
      const before = await world.run(detailOf(world, 20_001))
      const description = writeDescription({ ...ref.mark, adopted: true }, ["linux"])
      const adopt = Hypervisor.use((h) => h.adopt(before, description))
      await world.run(adopt)
      await world.run(adopt)
      const after = await world.run(detailOf(world, 20_001))
      expect(readDescription(after.description)).toEqual({ groups: ["linux"], mark: { ...ref.mark, adopted: true } })
      expect({ ...after, description: "", digest: "" }).toEqual({ ...before, description: "", digest: "" })
      await world.run(perform(deleteOf(ref)))
      expect(world.exists(20_001)).toBe(false)
    })

    promises("only the machine that was observed is adopted: not another one, one that changed, or a template", async (world) => {
      await world.stranger(20_001)
      const before = await world.run(detailOf(world, 20_001))
      const template = await world.run(detailOf(world, world.template.vmid))
      const description = writeDescription(refOf(world).mark, [])
      const adopt = (vm: MachineDetail) => world.run(reasonOf(Hypervisor.use((h) => h.adopt(vm, description))))
      expect(await adopt({ ...before, name: "another" })).toBe("not-ours")
      expect(await adopt({ ...before, description: "was read long ago" })).toBe("not-ours")
      expect(await adopt(template)).toBe("not-ours")
      expect(await adopt({ ...before, vmid: vmidOf(29_999) })).toBe("not-found")
      expect(await world.run(detailOf(world, 20_001))).toEqual(before)
      expect(await world.run(detailOf(world, world.template.vmid))).toEqual(template)
    })

    promises("starting a machine that does not exist fails with `not-found`", async (world) => {
      expect(await world.run(reasonOf(perform(startOf(refOf(world)))))).toBe("not-found")
    })

    promises("reports its version", async (world) => {
      expect(await world.run(Hypervisor.use((h) => h.version))).toMatch(/^\d+\.\d+/u)
    })
  })
}
