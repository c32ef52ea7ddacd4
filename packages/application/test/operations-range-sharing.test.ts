import type { Range, User } from "@rangewright/domain"
import { Ranges } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "./support/app.ts"

let app: TestApp
let admin: User
let ada: User
let range: Range
beforeEach(async () => {
  app = makeTestApp()
  admin = await app.addUser("Root1", { isAdmin: true })
  ada = await app.addUser("Ada")
  range = await app.addRange("LAB")
})

const path = { userID: "Ada", rangeID: "LAB" }
const assign = () => app.call("assignRangeToUser", admin, { range, path })
const revoke = (query = {}) => app.call("revokeRangeFromUser", admin, { range, path, query })
const holders = async () =>
  (await app.run(Effect.flatMap(Ranges, (ranges) => ranges.grants(range.id)))).map((grant) => grant.userId)
const rights = () => app.rightsOn()
const router = (power: "running" | "stopped") =>
  app.addMachine(range, 140, "LAB-router-debian11-x64", { power, tags: ["router"], address: "10.1.10.254" })

describe("assigning a range", () => {
  it("that was never deployed is stored, with the rights on the hypervisor", async () => {
    expect(await assign()).toMatchObject({ result: expect.stringMatching(/assigned.*successfully/u) })
    expect([await holders(), rights()]).toEqual([["Ada"], ["ada@pve"]])
    expect(app.runs.asked).toEqual([])
    expect(await app.call("listUserAccessibleRanges", ada)).toMatchObject([{ rangeID: "LAB" }])
  })

  it("with a running router rebuilds its rules, which already let in the new user", async () => {
    await router("running")
    let known: readonly string[] = []
    app.runs.effect = () => Effect.promise(async () => void (known = await holders()))
    await assign()
    expect(app.runs.asked).toEqual([{ request: { kind: "access" }, by: "Root1" }])
    expect(known).toEqual(["Ada"])
  })

  it("whose router is off is refused with the text that clients match, and nothing is granted", async () => {
    await router("stopped")
    const fault = await app.fails("assignRangeToUser", admin, { range, path })
    expect(fault.kind).toBe("conflict")
    expect(`${fault.message} ${fault.hint}`).toMatch(/must be accessible.*powered on and accessible/u)
    expect([await holders(), rights()]).toEqual([[], []])
  })

  it("is undone when the router's rules cannot be changed", async () => {
    await router("running")
    app.runs.ending = () => ({ status: "failure", message: "no route to the router" })
    expect(await app.fails("assignRangeToUser", admin, { range, path })).toMatchObject({ kind: "failed" })
    expect([await holders(), rights()]).toEqual([[], []])
  })

  it("is undone when the hypervisor cannot give the rights", async () => {
    app.world.fault = (call) => (call.method === "grant" ? { when: "before", reason: "away" } : undefined)
    expect(await app.fails("assignRangeToUser", admin, { range, path })).toMatchObject({ kind: "unavailable" })
    expect(await holders()).toEqual([])
  })

  it("that another request assigns at that moment is refused, and what the other one gave stays", async () => {
    await router("running")
    app.runs.ending = () => ({ status: "failure", message: "no route to the router" })
    const fault = await app.run(
      Effect.gen(function* () {
        const ranges = yield* Ranges
        const overtaken = Ranges.of({ ...ranges, grant: (...one) => Effect.andThen(ranges.grant(...one), ranges.grant(...one)) })
        const asked = app.handle("assignRangeToUser", admin, { range, path })
        return yield* Effect.flip(Effect.provideService(asked, Ranges, overtaken))
      }).pipe(Effect.orDie),
    )
    expect(fault).toMatchObject({ kind: "conflict", message: expect.stringContaining("has access to it already") as string })
    expect(await holders()).toEqual(["Ada"])
  })

  it("is refused for a user who has it, and for one who does not exist", async () => {
    await assign()
    expect(await app.fails("assignRangeToUser", admin, { range, path })).toMatchObject({ kind: "conflict" })
    expect(await app.fails("assignRangeToUser", admin, { range, path: { ...path, userID: "Zoe" } })).toMatchObject({
      kind: "not-found",
    })
  })
})

describe("revoking a range", () => {
  beforeEach(assign)

  it("takes it away here, on the router and on the hypervisor", async () => {
    await router("running")
    await revoke()
    expect([await holders(), rights()]).toEqual([[], []])
    expect(app.runs.asked).toHaveLength(1)
  })

  it("needs a router that is on, unless it is forced", async () => {
    await router("stopped")
    expect(await app.fails("revokeRangeFromUser", admin, { range, path })).toMatchObject({ kind: "conflict" })
    expect([await holders(), rights()]).toEqual([["Ada"], ["ada@pve"]])
    await revoke({ force: true })
    expect([await holders(), rights(), app.runs.asked]).toEqual([[], [], []])
  })

  it("applies here at once if the hypervisor cannot revoke the rights, and there as soon as it can", async () => {
    app.world.fault = (call) => (call.method === "revoke" ? { when: "before", reason: "away" } : undefined)
    expect(await app.fails("revokeRangeFromUser", admin, { range, path })).toMatchObject({ _tag: "RevocationPending" })
    expect([await holders(), rights()]).toEqual([[], ["ada@pve"]])
    const drift = { inSync: false, differences: [{ object: "access to LAB" }] }
    expect(await app.call("getRangeDrift", admin, { range })).toMatchObject(drift)
    app.world.fault = () => undefined
    await app.inLine()
    expect(rights()).toEqual([])
  })

  it("applies even if the router fails, reports that, and updates the router later", async () => {
    await router("running")
    app.runs.ending = () => ({ status: "failure", message: "no route to the router" })
    const fault = await app.fails("revokeRangeFromUser", admin, { range, path })
    expect(fault).toMatchObject({ kind: "failed", message: expect.stringMatching(/router of LAB yet.*no route/u) as string })
    expect([await holders(), rights()]).toEqual([[], []])
    expect(await app.call("getAccess", admin)).toMatchObject({ inLine: false, routers: [expect.stringContaining("LAB")] })
    app.runs.ending = () => ({ status: "success" })
    expect(await app.call("reconcileAccess", admin)).toMatchObject({ routersLeft: 0 })
  })

  it("is refused while a run changes the range, and nothing is taken", async () => {
    await router("running")
    app.runs.ending = () => "running"
    await app.call("deployRange", admin, { range })
    expect(await app.fails("revokeRangeFromUser", admin, { range, path })).toMatchObject({ _tag: "RangeBusy" })
    expect([await holders(), rights()]).toEqual([["Ada"], ["ada@pve"]])
  })

  it("is refused for users who were not given it", async () => {
    await revoke()
    expect(await app.fails("revokeRangeFromUser", admin, { range, path })).toMatchObject({ kind: "conflict" })
    expect(await app.fails("revokeRangeFromUser", admin, { range, path: { ...path, userID: "Zoe" } })).toMatchObject({
      kind: "conflict",
    })
  })
})
