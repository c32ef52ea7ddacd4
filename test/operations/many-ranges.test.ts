import type { User } from "@rangewright/domain"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

interface Answer {
  readonly started?: readonly { readonly rangeID: string; readonly runID: string; readonly blockedBy?: string }[]
  readonly errors?: readonly { readonly item: string; readonly reason: string }[]
}

describe("an action on many ranges", () => {
  let service: RangeService
  let ada: User
  let bob: User
  const ids = ["LAB", "LAB2", "LAB3"]
  const act = (by: User, action: string, rangeIDs: readonly string[], more: object = {}) =>
    service.call("changeManyRanges", by, { range: undefined, body: { action, rangeIDs, ...more } }) as Promise<Answer>
  const ends = async ({ started = [] }: Answer): Promise<readonly unknown[]> =>
    Promise.all(started.map(async ({ runID }) => ((await service.end(ada, runID)) as { readonly status: string }).status))
  const machines = (id: string) => [...service.lab.world.vms.values()].filter(({ pool }) => pool === id)

  beforeEach(async () => {
    service = makeRangeService()
    ada = await service.addUser("Ada")
    bob = await service.addUser("Bob")
    for (const id of ids) {
      await service.call("createRange", ada, { body: { name: id, rangeID: id } })
      await service.putConfig(ada, await service.find(id), service.lab.config)
    }
    await service.call("createRange", bob, { body: { name: "His", rangeID: "HIS" } })
  })
  afterEach(() => service.close())

  it("is a run of its own for each: deploy, power, snapshots, testing mode", async () => {
    expect(await ends(await act(ada, "deploy", ids))).toEqual(["success", "success", "success"])
    expect(await ends(await act(ada, "shutdown", ids))).toEqual(["success", "success", "success"])
    for (const id of ids) expect(new Set(machines(id).map(({ power }) => power))).toEqual(new Set(["stopped"]))
    await ends(await act(ada, "poweron", ["LAB2"]))
    expect(machines("LAB").some(({ power }) => power === "running")).toBe(false)
    expect(machines("LAB2").every(({ power }) => power === "running")).toBe(true)
    const taken = await act(ada, "snapshot", ids, { name: "lesson-3" })
    expect([taken.started?.map(({ rangeID }) => rangeID), await ends(taken)]).toEqual([ids, ["success", "success", "success"]])
    expect(machines("LAB3").every(({ snapshots = [] }) => snapshots.some(({ name }) => name === "lesson-3"))).toBe(true)
    expect(await ends(await act(ada, "rollback", ids, { name: "lesson-3" }))).toEqual(["success", "success", "success"])
    expect(await ends(await act(ada, "testing-start", ["LAB2"]))).toEqual(["success"])
    expect((await service.find("LAB2")).testing.mode).toBe("on")
    service.lab.world.guestsOverNetwork = true
    service.lab.world.routerReport = `check 0\n${JSON.stringify({ packets: 3, full: false })}`
    expect(await ends(await act(ada, "testing-stop", ["LAB2"]))).toEqual(["success"])
    // its router's counts are kept, as by any other stop
    const blocked = { range: await service.find("LAB2"), query: { refresh: false } }
    expect(await service.call("getTestingBlocked", ada, blocked)).toMatchObject({ testingState: "off", packets: 3 })
    expect((await service.find("LAB2")).testing.mode).toBe("off")
  })

  it("gives a reason for each range that it cannot be applied to, and is applied to the others", async () => {
    await ends(await act(ada, "deploy", ["LAB"]))
    const { started, errors } = await act(ada, "snapshot", ["HIS", "LAB3", "NONE", "", "../LAB", " LAB ", "LAB"], { name: "now" })
    expect(started?.map(({ rangeID }) => rangeID)).toEqual(["LAB"])
    expect(errors).toEqual([
      { item: "HIS", reason: expect.stringContaining("do not have access to range HIS") },
      { item: "LAB3", reason: expect.stringContaining("has no machines") },
      { item: "NONE", reason: expect.stringContaining("NONE") },
      { item: "", reason: "No range is named" },
      { item: "../LAB", reason: expect.any(String) },
    ])
    // ranges of other users are not started either way
    expect((await act(bob, "poweroff", ids)).started).toBeUndefined()
    for (const name of ["", "current", "a b", "x".repeat(41)])
      expect(await act(ada, "rollback", ["LAB"], { name })).toEqual({
        errors: [{ item: "LAB", reason: expect.stringContaining("Cannot roll range LAB back") }],
      })
    await expect(act(ada, "poweron", [])).rejects.toMatchObject({ kind: "invalid" })
  })

  it("does not wait for other ranges, and is refused for one that is being changed", async () => {
    const both = await act(ada, "deploy", ["LAB", "LAB2"])
    const again = await act(ada, "deploy", ["LAB", "LAB3"])
    expect(again.started?.map(({ rangeID }) => rangeID)).toEqual(["LAB3"])
    expect(again.errors).toEqual([{ item: "LAB", reason: expect.stringMatching(/run/u) }])
    expect(await ends({ started: [...(both.started ?? []), ...(again.started ?? [])] })).toEqual([
      "success",
      "success",
      "success",
    ])
  })
})
