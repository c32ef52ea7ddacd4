import { macOf } from "@rangewright/domain"
import { Hypervisor, HypervisorAccess } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { asRoot, makeRig, type Rig } from "./support/rig.ts"
import { cloneOf, configureOf, perform, rangeId, refOf, startOf, stopOf } from "./support/under-test.ts"

const change = (rig: Rig, form: string) =>
  Effect.promise(() => asRoot(rig.sim, "PUT", `/nodes/${rig.node}/qemu/20001/config`, form))

/** A running machine as it was configured, after somebody's edits. */
const running = async (...edits: readonly string[]): Promise<Rig> => {
  const rig = makeRig()
  const ref = refOf(rig)
  await rig.run(
    Effect.gen(function* () {
      yield* HypervisorAccess.use((access) => access.ensurePool(rangeId))
      for (const action of [cloneOf(rig, ref), configureOf(ref), startOf(ref)]) yield* perform(action)
      for (const edit of edits) yield* change(rig, edit)
    }),
  )
  return rig
}

const detail = (rig: Rig) => rig.run(Hypervisor.use((hypervisor) => hypervisor.detail(rig.node, refOf(rig).vmid)))

describe("a change that is pending until the next start of a machine", () => {
  it("does not count as done: the machine is observed as it runs", async () => {
    const rig = await running("cores=8&memory=8192")
    expect(await detail(rig)).toMatchObject({ cpus: 3, memoryMiB: 4096 })
    await rig.run(perform(stopOf(refOf(rig))))
    expect(await detail(rig)).toMatchObject({ cpus: 8, memoryMiB: 8192 })
    await rig.close()
  })

  it("is written once: configuring the same again calls nothing, and another value replaces it", async () => {
    const rig = await running("cores=8")
    const writes = () => rig.sim.calls.counts().byRoute["PUT /nodes/{node}/qemu/{vmid}/config"] ?? 0
    const { settings } = configureOf(refOf(rig))
    const eight = { ...configureOf(refOf(rig)), settings: { ...settings, cpus: 8 } }
    const before = writes()
    await rig.run(perform(eight))
    expect(writes()).toBe(before)
    await rig.run(perform(configureOf(refOf(rig))))
    await rig.run(perform(stopOf(refOf(rig))))
    expect(await detail(rig)).toMatchObject({ cpus: 3 })
    await rig.close()
  })
})

describe("a machine without hotplug of network cards", () => {
  it("is recognized, and still changes networks while it runs", async () => {
    const rig = await running("hotplug=disk%2Cusb")
    const ref = refOf(rig)
    expect((await detail(rig)).coldCards).toBe(true)
    const { settings } = configureOf(ref)
    const [card] = settings.nics
    await rig.run(perform({ ...configureOf(ref), settings: { ...settings, nics: [{ ...card!, tag: 20 }] } }))
    expect((await detail(rig)).nics).toMatchObject([{ mac: macOf(20_001, 0), tag: 20 }])
    await rig.close()
  })

  it.each([
    ["hotplug=0", true],
    ["hotplug=1", false],
    ["hotplug=network", false],
    ["delete=hotplug", false],
  ])("is distinguished from others: %s", async (edit, cold) => {
    const rig = await running("hotplug=usb", edit)
    expect((await detail(rig)).coldCards).toBe(cold)
    await rig.close()
  })
})
