import { type AppServices, operations, type Operation } from "@rangewright/application"
import { type Fault, type KeyScope, type RangeId, scopedKeyIdIn, scopeProblem } from "@rangewright/domain"
import { Ranges, ScopedKeys } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { send, stored } from "./ask.ts"
import { bodyOf, pathOf, sampleOf } from "./requests.ts"
import { startWholeService, type WholeService } from "./service.ts"

/** Operations that return secrets or change permissions: written down, not derived from the operations. */
const neverScoped = new Set([
  "getAPIKey",
  "streamEvents",
  "createScopedKey",
  "listScopedKeys",
  "deleteScopedKey",
  "getCredentials",
  "postCredentials",
  "getWireguardConfig",
  "rotateWireguardKey",
  "getRangeCredentials",
  "getRangeWireguard",
  "getAnsibleInventory",
  "getConfig",
  "getBlueprintConfig",
  "exportBlueprint",
  "getConsoleWebsocketTicket",
  "recordRefresh",
  "linkIdentity",
  "unlinkIdentity",
  "assignRangeToUser",
  "revokeRangeFromUser",
])

/** The operations that a key for one range may call there. */
const ofRange = [
  "abortRange",
  "allow",
  "antiSandboxDisable",
  "antiSandboxEnable",
  "deleteRange",
  "deleteRangeVMs",
  "deny",
  "deployRange",
  "extendAutoShutdown",
  "getAutoShutdown",
  "getEtcHosts",
  "getLogs",
  "getRDP",
  "getRangeDrift",
  "getRangeLogHistory",
  "getRangeLogHistoryByID",
  "getSSHConfig",
  "getSnapshotSets",
  "getSnapshots",
  "getTestingBlocked",
  "getTopology",
  "kmsLicense",
  "listRange",
  "listRangeUsers",
  "planRange",
  "powerOffRange",
  "powerOnRange",
  "putConfig",
  "rebootRange",
  "resetRange",
  "shutDownRange",
  "snapshotsRemove",
  "snapshotsRollback",
  "snapshotsTake",
  "startTesting",
  "stopTesting",
  "update",
  "updateAutoShutdown",
  "validateConfig",
]

const guarded = operations.filter(({ access }) => access !== "anonymous")
const problem = (scope: KeyScope, { mutates, target, wholeKeyOnly }: Operation) =>
  scopeProblem(scope, { mutates, wholeKeyOnly, ofRange: target === "range" || target === "range-in-path" })
const read: KeyScope = { kind: "read" }
const one: KeyScope = { kind: "range", rangeId: "R1" as RangeId }

describe("scoped keys", () => {
  let service: WholeService
  let before: string
  const keys = { read: "", range: "", admin: "" }

  const call = async (operation: Operation, key: string, query: Record<string, string> = {}) => {
    const sample = sampleOf(operation, service.runId)
    const init = bodyOf(operation, sample)
    const answer = await send(operation, service.url + pathOf(operation, { ...sample, query: { ...sample.query, ...query } }), {
      ...init,
      headers: { ...(init.headers as Record<string, string>), "x-api-key": key },
    })
    return { status: answer.status, text: answer.status === 200 && operation.output.type === "events" ? "" : await answer.text() }
  }
  const make = async (who: "member" | "admin", body: object): Promise<string> => {
    const answer = await fetch(`${service.url}/api/v2/user/keys`, {
      method: "POST",
      headers: { "x-api-key": service.keys[who], "content-type": "application/json" },
      body: JSON.stringify({ name: "test", days: 1, ...body }),
    })
    expect(answer.status).toBe(201)
    return ((await answer.json()) as { readonly apiKey: string }).apiKey
  }
  const run = async (effect: Effect.Effect<unknown, Fault, AppServices>) =>
    expect(Exit.isSuccess(await Effect.runPromise(Fiber.await(service.run(effect))))).toBe(true)
  const named = (id: string) => operations.find((operation) => operation.id === id)!

  beforeAll(async () => {
    service = await startWholeService()
    keys.read = await make("member", { scope: "read" })
    keys.range = await make("member", { scope: "range", rangeID: "R1" })
    keys.admin = await make("admin", { scope: "read" })
    before = stored(service)
  })
  afterAll(async () => {
    expect(service.defects).toEqual([])
    await service.stop()
  })

  it("are allowed or refused by each operation's declaration, as listed here", () => {
    const may = (scope: KeyScope) => guarded.filter((operation) => problem(scope, operation) === undefined).map(({ id }) => id)
    expect(may(one).toSorted()).toEqual(ofRange.toSorted())
    expect(may(read).toSorted()).toEqual(
      guarded
        .filter(({ id, mutates }) => !mutates && !neverScoped.has(id))
        .map(({ id }) => id)
        .toSorted(),
    )
    for (const { id, route, mutates } of guarded)
      if (route.method !== "GET" && !mutates) expect(["validateConfig", "GetRoleVars", "recordRefresh"]).toContain(id)
  })

  it.each(guarded.map((operation) => [operation.id, operation] as const))(
    "are refused or let through: %s",
    async (id, operation) => {
      for (const [key, scope] of [
        [keys.read, read],
        [keys.admin, read],
        [keys.range, one],
      ] as const) {
        const keyId = scopedKeyIdIn(key.split(".")[1] ?? "")
        if (neverScoped.has(id) || problem(scope, operation) !== undefined) {
          const { status, text } = await call(operation, key)
          expect([status, text]).toEqual([403, expect.stringContaining(`API key ${keyId} may not`)])
        } else if (scope.kind === "range") {
          // any other range, even if its owner has it
          if (operation.target !== "range") continue
          const { status, text } = await call(operation, key, { rangeID: "lab/web/1" })
          expect([status, text]).toEqual([403, expect.stringContaining("the key is for range R1")])
        } else {
          const own = await call(operation, service.keys[key === keys.admin ? "admin" : "member"])
          expect((await call(operation, key)).status).toBe(own.status)
        }
      }
      expect(stored(service) === before).toBe(true)
    },
  )

  it("start no session, which could do everything that their owner may", async () => {
    const begin = (apiKey: string) =>
      fetch(`${service.url}/ui/session`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-rangewright": "1", origin: service.url },
        body: JSON.stringify({ apiKey }),
      })
    for (const key of Object.values(keys)) {
      const { status, headers } = await begin(key)
      expect([status, headers.get("set-cookie")]).toEqual([401, null])
    }
    expect((await begin(service.keys.stranger)).status).toBe(200)
  })

  it("act as nobody but their owner", async () => {
    const { status, text } = await call(named("listRange"), keys.admin, { userID: "ME" })
    expect([status, text]).toEqual([403, expect.stringContaining("acts only as its owner")])
  })

  it("for one range use that range when none is named, may change it, and are named in the audit trail", async () => {
    expect((await call(named("updateAutoShutdown"), keys.range)).status).toBe(200)
    const audit = await call(named("listAudit"), service.keys.admin)
    expect(audit.text).toContain(`key=${scopedKeyIdIn(keys.range.split(".")[1] ?? "")}`)
    expect(audit.text).not.toContain(keys.range)
  })

  it("are void for another user, with another secret, after they expire, and after they are removed", async () => {
    const [, secret = ""] = keys.read.split(".")
    for (const wrong of [
      `AD.${secret}`,
      `${keys.read.slice(0, -1)}!`,
      `${keys.read}x`,
      `ME.${secret.slice(0, 13)}${"a".repeat(40)}`,
    ])
      expect((await call(named("whoami"), wrong)).status).toBe(401)
    expect((await call(named("whoami"), keys.read)).status).toBe(200)
    const id = scopedKeyIdIn(secret) ?? ""
    const listed = await call(named("listScopedKeys"), service.keys.member)
    expect(listed.text).toContain(id)
    expect(listed.text).not.toContain(secret)
    const years = 365 * 24 * 3_600_000
    for (const [expiresAt, because] of [
      [new Date(Date.now() + 3 * years), "was created while the clock was wrong"],
      [new Date(1), "has expired"],
    ] as const) {
      await run(
        Effect.gen(function* () {
          const store = yield* ScopedKeys
          const key = (yield* store.find(id))!
          yield* store.remove(key.userId, id)
          yield* store.create({ ...key, expiresAt })
        }),
      )
      const over = await call(named("whoami"), keys.read)
      expect([over.status, over.text]).toEqual([401, expect.stringContaining(because)])
    }
    await run(
      Effect.gen(function* () {
        const [key] = yield* (yield* ScopedKeys).ofUser("AD" as never)
        yield* (yield* ScopedKeys).remove(key!.userId, key!.id)
      }),
    )
    expect((await call(named("whoami"), keys.admin)).status).toBe(401)
  })

  it("for a range are removed with it", async () => {
    await run(Effect.flatMap(Ranges, (ranges) => ranges.remove("R1" as RangeId)))
    expect((await call(named("listRange"), keys.range)).status).toBe(401)
  })
})
