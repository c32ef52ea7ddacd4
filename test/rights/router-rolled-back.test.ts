import { letIn } from "@rangewright/domain"
import { expect, it } from "vitest"
import { accessOperations } from "./support/operations.ts"
import { shown } from "./support/facts.ts"
import { open, settle } from "./support/scene.ts"
import { call, sleep } from "./support/site.ts"
import { isDone, perform } from "./support/watch.ts"

it("a router that is rolled back to a snapshot gets the current rules again: somebody may have lost access since", async () => {
  const scene = await open()
  const { process, site, watch } = scene
  const { vmid } = [...site.world.vms.values()].find(({ name, pool }) => pool === "LAB" && name.includes("router"))!
  /** The users whom the router's newest rules let in; undefined while it has those of its snapshot. */
  const rules = () => {
    const done = site.world.calls.flatMap(({ method, action }) =>
      method === "dispatch" && action !== undefined && "machine" in action && action.machine.vmid === vmid ? [action] : [],
    )
    const last = done.findLast(({ kind, ...rest }) => kind === "roll-back" || ("stage" in rest && rest.stage === "firewall"))
    return last?.kind === "guest" ? letIn(last.input) : undefined
  }
  const snapshots = (id: string) => call(process, { id, as: "BOSS", range: "LAB", body: { name: "before", vmids: [vmid] } })
  const cat = [...site.store.users.values()].find(({ user }) => user.id === "CAT")!.user.number
  expect(rules()).toContain(cat)
  expect(await snapshots("snapshotsTake")).toMatchObject({ ok: true, value: { success: [vmid] } })
  const unshared = accessOperations.find(({ name }) => name === "range unshared")!
  expect(isDone(await perform(process, unshared, watch))).toBe(true)
  expect(rules()).not.toContain(cat)

  expect(await snapshots("snapshotsRollback")).toMatchObject({ ok: true, value: { success: [vmid] } })
  expect(rules()).toBeUndefined()
  expect(await shown(site)).toMatchObject({ inLine: false, routers: [expect.stringContaining("LAB")] })
  await sleep(process, 240)
  expect(await settle(scene)).toEqual([])
  expect(rules()).toBeDefined()
  expect(rules()).not.toContain(cat)
})

it("rolling back another machine does not change whom the router lets in", async () => {
  const scene = await open()
  const { process, site } = scene
  const { vmid } = [...site.world.vms.values()].find(({ name, pool }) => pool === "LAB" && !name.includes("router"))!
  const body = { name: "before", vmids: [vmid] }
  for (const id of ["snapshotsTake", "snapshotsRollback"])
    expect(await call(process, { id, as: "BOSS", range: "LAB", body })).toMatchObject({ ok: true, value: { success: [vmid] } })
  expect(await shown(site)).toMatchObject({ inLine: true })
  expect(await settle(scene)).toEqual([])
})
