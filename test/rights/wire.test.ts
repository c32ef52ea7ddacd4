import { describe, expect, it } from "vitest"
import { makeCallGate } from "./support/call-gate.ts"
import { withinSeconds } from "./support/scene.ts"
import { boot, call, type Call, sleep, stop } from "./support/site.ts"
import { isDone } from "./support/watch.ts"
import { makeWireSite, type WireFault, wireFaults, wireOthers, wireProblems } from "./support/wire.ts"

const changes: Readonly<Record<string, Call>> = {
  "a password is changed": { id: "postCredentials", as: "BOB", body: { proxmoxPassword: "Second-word-1-of-2" } },
  "a group is removed": { id: "deleteGroup", as: "BOSS", group: "TEAM", path: { groupName: "TEAM" } },
  "a range is shared": { id: "assignRangeToUser", as: "BOSS", path: { userID: "BOB", rangeID: "HUT" }, range: "HUT" },
  "a user is removed": { id: "deleteUser", as: "BOSS", path: { userID: "CAT" } },
  "a range is deleted": { id: "deleteRange", as: "BOB", range: "DEN", query: { force: true } },
}

/** Performs a change with one request disturbed, waits, and returns the remaining problems. */
const disturbed = async (change: Call, at?: { readonly nth: number; readonly how: WireFault }) => {
  const site = await makeWireSite()
  const others = wireOthers(site)
  const gate = makeCallGate(site.clock.stir)
  let process = boot(site, { gate, background: true })
  await sleep(process, 1)
  site.disturb(at)
  const answer = await call(process, change)
  const asked = [...site.asked]
  if (gate.dead()) {
    await stop(process)
    process = boot(site, { background: true })
  }
  await sleep(process, withinSeconds)
  const problems = await wireProblems(site)
  await stop(process)
  expect(wireOthers(site)).toEqual(others)
  return { answer, asked, problems }
}

describe.each(Object.entries(changes))("%s on Proxmox", (_, change) => {
  it.each(wireFaults)(
    "ends as stored within half a minute and leaves foreign objects untouched, whichever request %s",
    { timeout: 120_000 },
    async (how) => {
      const { asked, answer, problems } = await disturbed(change)
      expect(problems).toEqual([])
      expect(isDone(answer), JSON.stringify(answer)).toBe(true)
      const failures: Record<string, readonly string[]> = {}
      for (const [index, name] of asked.entries()) {
        const found = (await disturbed(change, { nth: index + 1, how })).problems
        if (found.length > 0) failures[`request ${index + 1}, ${name}`] = found
      }
      expect(failures).toEqual({})
    },
  )
})
