import { CallerGone } from "@rangewright/application"
import {
  type GroupName,
  installation,
  type Range,
  type RangeId,
  type RunHead,
  type RunId,
  type User,
  type UserId,
} from "@rangewright/domain"
import { Groups, Ranges, RunJournal, Users } from "@rangewright/ports"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
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
  await app.run(Effect.flatMap(RunJournal, (journal) => journal.open(moving, undefined)))
})

const moving: RunHead = {
  id: "move00000000000" as RunId,
  kind: "migrate-sdn",
  subject: installation,
  by: "Root1" as UserId,
  options: null,
  startedAt: new Date(0),
}
const end = Effect.flatMap(RunJournal, (journal) =>
  journal.close(moving.id, 0, { type: "Ended", status: "success", message: "" }, undefined, new Date(1)),
)

interface Asked {
  readonly operation: string
  readonly request: Parameters<TestApp["handle"]>[2]
}
const newLab: Asked = { operation: "createRange", request: { body: { name: "New", rangeID: "NEW", userID: ["Ada"] } } }
const path = { userID: "Ada", rangeID: "LAB" }
const asked: Readonly<Record<string, () => Asked>> = {
  "making a range": () => newLab,
  "making a user": () => ({
    operation: "addUser",
    request: { body: { name: "Zoe", userID: "ZOE", email: "zoe@lab.example", isAdmin: false } },
  }),
  "removing a user": () => ({ operation: "deleteUser", request: { path: { userID: "Ada" } } }),
  "giving a range": () => ({ operation: "assignRangeToUser", request: { range, path } }),
}

/** Everything that such a call could change. */
const everything = () =>
  app.run(
    Effect.gen(function* () {
      const ranges = yield* Ranges
      const grants = yield* Effect.forEach(yield* ranges.list(), ({ id }) => ranges.grants(id))
      const users = (yield* (yield* Users).list).map(({ id }) => id)
      const { pools, acl, accounts } = app.world
      return structuredClone({ ranges: (yield* ranges.list()).map(({ id }) => id), grants, users, pools, acl, accounts })
    }),
  )

/** Calls the operation, waits a minute, then runs `meantime`; returns its results before and after the end of the run. */
const throughTheWait = ({ operation, request }: Asked, meantime: Effect.Effect<unknown, unknown, Ranges | Users>) =>
  app.run(
    Effect.gen(function* () {
      const call = yield* Effect.forkChild(Effect.result(app.handle(operation, admin, request)))
      yield* TestClock.adjust("1 minute")
      const early = call.pollUnsafe()
      yield* Effect.orDie(meantime)
      yield* end
      yield* TestClock.adjust("2 seconds")
      return { early, late: yield* Fiber.join(call) }
    }).pipe(Effect.provide(TestClock.layer())),
  )

describe("while a run changes the whole installation", () => {
  it.each(Object.keys(asked))("%s waits, changes nothing meanwhile, and is done when the run has ended", async (what) => {
    const before = await everything()
    let meantime: typeof before | undefined
    const { early, late } = await throughTheWait(
      asked[what]!(),
      Effect.promise(async () => (meantime = await everything())),
    )
    expect(early).toBeUndefined()
    expect(meantime).toEqual(before)
    expect(late._tag).toBe("Success")
    expect(await everything()).not.toEqual(before)
  })

  it.each(Object.keys(asked))("%s fails with a hint and without a change when its caller leaves", async (what) => {
    const before = await everything()
    const { operation, request } = asked[what]!()
    const fault = await app.run(
      Effect.gen(function* () {
        const gone = yield* Deferred.make<void>()
        const call = yield* Effect.forkChild(
          Effect.flip(app.handle(operation, admin, request)).pipe(Effect.provideService(CallerGone, Deferred.await(gone))),
        )
        yield* TestClock.adjust("1 minute")
        yield* Deferred.succeed(gone, undefined)
        return yield* Fiber.join(call)
      }).pipe(Effect.provide(TestClock.layer()), Effect.orDie),
    )
    expect(fault).toMatchObject({ _tag: "InstallationBusy", kind: "conflict" })
    expect(fault.message).toContain("run move00000000000 (migrate-sdn) is changing the whole installation")
    expect(fault.hint).toContain("Try again")
    expect(await everything()).toEqual(before)
  })

  it("a wrong request fails at once", async () => {
    const wrong = { body: { name: "New", rangeID: "no good", userID: ["Ada"] } }
    expect(await app.fails("createRange", admin, wrong)).toMatchObject({ _tag: "RangeExists" })
    const taken = { body: { name: "New", rangeID: "LAB", userID: ["Ada"] } }
    expect(await app.fails("createRange", admin, taken)).toMatchObject({
      message: expect.stringContaining("has this ID already"),
    })
    expect(await app.fails("deleteUser", admin, { path: { userID: "NOBODY" } })).toMatchObject({ kind: "not-found" })
  })

  it("reads continue", async () => {
    expect(await app.call("listAllRange", admin)).toBeDefined()
    expect(await app.call("listRuns", admin)).toMatchObject([{ id: moving.id, status: "running" }])
  })

  it("a change that affects nobody does not wait", async () => {
    await app.call("createGroup", admin, { body: { name: "friends" } })
    const group = await app.run(
      Effect.flatMap(Groups, (groups) => Effect.flatMap(groups.find("friends" as GroupName), Effect.fromNullishOr)).pipe(
        Effect.orDie,
      ),
    )
    // nobody is in it yet
    expect(await app.call("addRangesToGroup", admin, { group, body: { rangeIDs: ["LAB"] } })).toEqual({ success: ["LAB"] })
  })
})

describe("what was checked before a long wait is checked again after it", () => {
  it("a range ID that somebody else took", async () => {
    const { late } = await throughTheWait(
      newLab,
      Effect.promise(() => app.addRange("NEW")),
    )
    expect(late).toMatchObject({ _tag: "Failure", failure: { _tag: "RangeExists" } })
  })

  it.each(["making a range", "giving a range"])("a user who was removed: %s", async (what) => {
    const { late } = await throughTheWait(
      asked[what]!(),
      Effect.flatMap(Users, (users) => users.remove(ada.id)),
    )
    expect(late).toMatchObject({ _tag: "Failure", failure: { _tag: "UserNotFound" } })
  })

  it("a range that was removed", async () => {
    const { late } = await throughTheWait(
      asked["giving a range"]!(),
      Effect.flatMap(Ranges, (ranges) => ranges.remove("LAB" as RangeId)),
    )
    expect(late).toMatchObject({ _tag: "Failure", failure: { _tag: "RangeNotFound" } })
  })

  it("a user who got the range by another call keeps it", async () => {
    const { late } = await throughTheWait(
      asked["giving a range"]!(),
      Effect.flatMap(Ranges, (ranges) => ranges.grant(range.id, ada.id)),
    )
    expect(late).toMatchObject({ _tag: "Failure", failure: { kind: "conflict" } })
    expect((await everything()).grants).toMatchObject([[{ userId: "Ada", accessType: "Direct" }]])
  })
})
