import { letIn } from "@rangewright/domain"
import { expect, it } from "vitest"
import { problemsOf } from "./support/facts.ts"
import { makeLab } from "./support/lab.ts"
import { accessOperations } from "./support/operations.ts"
import { boot, sleep, stop } from "./support/site.ts"
import { perform, watchRevocations } from "./support/watch.ts"

const day = 24 * 3600
const isFirewall = (action: unknown): boolean => JSON.stringify(action ?? null).includes('"stage":"firewall"')

it("a router that could not be updated is tried again soon after the clock was set back", async () => {
  const site = await makeLab()
  let ahead = 0
  const process = boot(site, { background: true, ahead: () => ahead })
  await sleep(process, 1)
  site.world.fault = ({ port, method, action }) =>
    port === "guest" && method === "dispatch" && isFirewall(action) ? { when: "before", reason: "failed" } : undefined
  const unshared = accessOperations.find(({ name }) => name === "range unshared")!
  await perform(process, unshared, watchRevocations(site))
  await sleep(process, 60)
  expect(await problemsOf(site)).not.toEqual([])
  ahead = -day
  site.world.fault = () => undefined
  await sleep(process, 300)
  expect(await problemsOf(site)).toEqual([])
  const rules = site.world.calls.filter(({ action }) => isFirewall(action)).at(-1)?.action
  const cat = [...site.store.users.values()].find(({ user }) => user.id === "CAT")!.user.number
  expect(rules?.kind === "guest" && letIn(rules.input)).not.toContain(cat)
  await stop(process)
})
