import { expect, it } from "vitest"
import { accessOperations } from "./support/operations.ts"
import { open, settle } from "./support/scene.ts"
import { call, sleep, stop } from "./support/site.ts"
import { isDone, perform } from "./support/watch.ts"

it("a router that is off by the time it would be told stays off, and is told when it runs again", async () => {
  const scene = await open()
  const { process, site, watch } = scene
  const { vmid } = [...site.world.vms.values()].find(({ name }) => name.includes("router"))!
  const power = () => site.world.vms.get(vmid)!.power
  const become = (state: "running" | "stopped") => site.world.vms.set(vmid, { ...site.world.vms.get(vmid)!, power: state })
  // nobody has seen it yet
  become("stopped")
  const removal = accessOperations.find(({ name }) => name === "group of a deployed range removed")!
  const answer = await perform(process, removal, watch)
  expect(JSON.stringify(answer)).toContain("the router of range LAB could not be updated yet")
  await sleep(process, 600)
  expect(power()).toBe("stopped")
  become("running")
  await sleep(process, 240)
  expect(await settle(scene)).toEqual([])
})

it("a router that never comes to an end holds nobody who waits for it, and no other right", async () => {
  const scene = await open()
  const { process, site, watch } = scene
  site.world.durations = { ...site.world.durations, stage: 1e9 }
  const answered = perform(
    process,
    accessOperations.find(({ name }) => name === "range shared")!,
    watch,
  )
  await sleep(process, 1000)
  expect(await answered).toMatchObject({
    ok: false,
    fault: { message: expect.stringContaining("router of LAB has not finished") as string },
  })
  const reconciled = await call(process, { id: "reconcileAccess", as: "BOSS" })
  expect(reconciled).toMatchObject({ ok: true, value: { routersLeft: 1 } })
  expect(
    isDone(
      await perform(
        process,
        accessOperations.find(({ name }) => name === "member removed")!,
        watch,
      ),
    ),
  ).toBe(true)
  await stop(process)
})

it("a change waits for an update of the router that another one began, and tells the router what is true then", async () => {
  const scene = await open()
  const { process, site, watch } = scene
  site.world.durations = { ...site.world.durations, stage: 30 }
  const named = (wanted: string) => accessOperations.find(({ name }) => name === wanted)!
  const answers = [perform(process, named("range shared"), watch)]
  await sleep(process, 10)
  answers.push(perform(process, named("range unshared"), watch))
  await sleep(process, 300)
  expect((await Promise.all(answers)).map(isDone)).toEqual([true, true])
  expect(await settle(scene)).toEqual([])
})
