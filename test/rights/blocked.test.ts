import { type AccountId, groupOfAccount } from "@rangewright/domain"
import { expect, it } from "vitest"
import { shown } from "./support/facts.ts"
import { accessOperations } from "./support/operations.ts"
import { open, type Scene } from "./support/scene.ts"
import { sleep, stop } from "./support/site.ts"
import { isDone, perform } from "./support/watch.ts"

const named = (name: string) => accessOperations.find((operation) => operation.name === name)!
const runsIn = ({ site }: Scene): number =>
  [...site.store.runs.values()].filter(({ record: { kind } }) => kind === "reconcile-access").length
const bob = "bob@pve" as AccountId

it("a change that keeps failing does not hold up other revocations", async () => {
  const scene = await open()
  const { process, site, watch } = scene
  site.world.fault = ({ method }) => (method === "remove-group" ? { when: "before", reason: "failed" } : undefined)
  expect(isDone(await perform(process, named("user removed"), watch))).toBe(false)
  expect((await shown(site)).revocations).toEqual(["bob@pve still exists"])
  expect(isDone(await perform(process, named("range unshared"), watch))).toBe(true)
  expect((await shown(site)).revocations).toEqual(["bob@pve still exists"])
  site.world.fault = () => undefined
  await sleep(process, 300)
  expect((await shown(site)).inLine).toBe(true)
  await stop(process)
})

it("a foreign group with the name of a personal group is left alone and not retried forever", async () => {
  const scene = await open()
  const { process, site, watch } = scene
  site.world.groups.set(groupOfAccount(bob), { ours: false })
  expect(isDone(await perform(process, named("user removed"), watch))).toBe(true)
  await sleep(process, 60)
  const runs = runsIn(scene)
  await sleep(process, 600)
  expect([(await shown(site)).inLine, runsIn(scene)]).toEqual([true, runs])
  expect(site.world.groups.has(groupOfAccount(bob))).toBe(true)
  await stop(process)
})
