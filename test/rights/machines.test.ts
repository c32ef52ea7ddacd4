import { mayUsePool, writeEntry } from "@rangewright/adapter-memory"
import type { AccountId } from "@rangewright/domain"
import { Hypervisor, Machines } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { accessOperations } from "./support/operations.ts"
import { open, settle, undisturbed } from "./support/scene.ts"
import { boot, call, type Site, sleep, stop } from "./support/site.ts"
import { isDone, perform } from "./support/watch.ts"
import { accessListAt, giveRight, makeWireSite, vmIn } from "./support/wire.ts"

const unshare = accessOperations.find(({ name }) => name === "range unshared")!

const observe = Effect.gen(function* () {
  const seen = yield* (yield* Hypervisor).observe
  yield* (yield* Machines).replace(seen)
})

const cat = "cat@pve" as AccountId

/** CAT grants herself a right on each machine of LAB, as long as she may use it. */
const catWrites = ({ world }: Site): void => {
  if (!mayUsePool(world, "LAB").includes(cat)) return
  for (const { vmid, pool } of world.vms.values())
    if (pool === "LAB")
      writeEntry(world, { path: `/vms/${vmid}`, role: "PVEVMUser", subject: { type: "user", name: cat }, propagate: false })
}

describe("a right that a member grants on a machine of a range", () => {
  it("ends with the member's access to the range, whenever it was granted", { timeout: 120_000 }, async () => {
    const { trace } = await undisturbed(unshare)
    const failures: Record<string, readonly string[]> = {}
    for (let at = 0; at <= trace.length; at++) {
      const scene = await open()
      const { gate, process, site, watch } = scene
      if (at === 0) catWrites(site)
      gate.arm({ onCall: (nth) => nth === at && catWrites(site) })
      expect(isDone(await perform(process, unshare, watch))).toBe(true)
      const found = await settle(scene)
      if (found.length > 0) failures[`written at call ${at}`] = found
    }
    expect(failures).toEqual({})
  })

  it("is gone on Proxmox when the revocation is acknowledged, whoever it was granted to, and no new password brings it back", async () => {
    const site = await makeWireSite()
    const path = `/vms/${await vmIn(site, "DEN")}`
    const process = boot(site, { background: true })
    await sleep(process, 60)
    await process.runtime.runPromise(observe)
    const password = "First-CAT-password"
    const give = (to: string) => giveRight(site, { account: cat, password }, `path=${path}&roles=PVEVMUser&propagate=0&${to}`)
    for (const to of ["users=cat@pve", "users=carol@pve", "groups=students"]) expect(await give(to)).toBe(200)
    expect(accessListAt(site, path)).toEqual(["@students", "carol@pve", "cat@pve"])
    const answer = await call(process, { id: "removeUsersFromGroup", as: "BOSS", group: "TEAM", body: { userIDs: ["CAT"] } })
    expect(answer).toMatchObject({ ok: true })
    expect(accessListAt(site, path)).not.toContain("cat@pve")
    expect(await give("users=cat@pve")).toBe(403)
    await call(process, { id: "postCredentials", as: "CAT", body: { proxmoxPassword: "Another-1-password" } })
    await sleep(process, 60)
    expect(accessListAt(site, path)).toEqual([])
    await stop(process)
  })
})
