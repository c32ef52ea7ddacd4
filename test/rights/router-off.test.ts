import { expect, it } from "vitest"
import { accessOperations } from "./support/operations.ts"
import { open, settle } from "./support/scene.ts"
import { call, sleep, stop } from "./support/site.ts"
import { isDone, perform } from "./support/watch.ts"

it("a router that goes off before its update stays off and is updated when it runs again", async () => {
  const scene = await open()
  const { process, site, watch } = scene
  const { vmid } = [...site.world.vms.values()].find(({ name }) => name.includes("router"))!
  const power = () => site.world.vms.get(vmid)!.power
  const become = (state: "running" | "stopped") => site.world.vms.set(vmid, { ...site.world.vms.get(vmid)!, power: state })
  // the service has not noticed yet
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

it("a router update that never finishes blocks neither the callers who wait for it nor other changes of access", async () => {
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

it("a change waits for a running update of the router, and then gives it the rules that are right by then", async () => {
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
