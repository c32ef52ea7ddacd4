import { type GroupName, installation, type UserId } from "@rangewright/domain"
import {
  type AuditDraft,
  type AuditEntry,
  AuditTrail,
  begun,
  Blueprints,
  CurrentAudit,
  Groups,
  Machines,
  MigrationRecords,
  Ranges,
  RunJournal,
  Sources,
  StorageFault,
  Users,
  type StoragePorts,
} from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it, type SuiteCollector } from "vitest"
import {
  aliceWithLab,
  cluster,
  deployRun,
  machine,
  newBlueprint,
  newGroup,
  newRange,
  newSource,
  newUser,
  rangeId,
  userId,
  vmid,
} from "./samples.ts"
import { later, promises, startedAt, type StorageUnderTest } from "./storage-under-test.ts"

const entry = (at: Date, outcome: string = begun): AuditEntry => ({
  at,
  requestId: "chosen by the sender",
  callerId: userId("alice"),
  actingAs: userId("alice"),
  operation: "anything",
  rangeId: undefined,
  detail: "",
  outcome,
  remote: "192.0.2.7",
})

const draft = (key = "draft"): AuditDraft => ({ key, entry, kept: false })
/** An entry that no store can write. */
const impossible = (): AuditDraft => ({ ...draft(), entry: () => entry(new Date(Number.NaN)) })

const outcomes = Effect.map(
  AuditTrail.use((audit) => audit.list(10)),
  (entries) => entries.map(({ outcome }) => outcome),
)

const blueprint = newBlueprint("web/one")
const source = newSource("labs")
const snapshot = "a".repeat(64) as never
const group = newGroup("G")
const started = deployRun("run")
const ended = { type: "Ended", status: "success", message: "" } as const
const global = { type: "global" } as const

/** One object of every kind, and a run held by alice's worker. */
const seeded = Effect.gen(function* () {
  yield* aliceWithLab
  yield* (yield* Users).create(newUser("bob", { isAdmin: true }))
  yield* (yield* Users).create(newUser("carol", { isAdmin: true }))
  yield* (yield* Groups).create(group)
  yield* (yield* Groups).create(newGroup("H"))
  yield* (yield* Groups).addRange("H" as GroupName, rangeId("LAB"))
  const blueprints = yield* Blueprints
  yield* blueprints.create(blueprint)
  yield* blueprints.shareWithUser(blueprint.id, userId("bob"))
  yield* blueprints.shareWithGroup(blueprint.id, "H" as GroupName)
  const sources = yield* Sources
  yield* sources.create({ ...source, nextSyncAt: later(5) })
  yield* sources.claim(source.recordId, [{ kind: "template", name: "old", version: "", scope: global }])
  yield* (yield* Machines).replace(cluster(startedAt, [machine(102)]))
  yield* (yield* Machines).reserve(rangeId("LAB"), ["kept"], new Set(), { from: 100, to: 110 })
  yield* (yield* RunJournal).open(started, "DEPLOYING")
  yield* (yield* RunJournal).claim(started.id, "alice", 30)
})

/** Everything that reads show and the writes below change. */
const shown = Effect.gen(function* () {
  const ranges = yield* Ranges
  const groups = yield* Groups
  const machines = yield* Machines
  const sources = yield* Sources
  const blueprints = yield* Blueprints
  return JSON.stringify([
    yield* (yield* Users).list,
    yield* (yield* Users).forAuthentication(userId("alice")),
    yield* ranges.list(),
    yield* ranges.config(rangeId("LAB")),
    yield* ranges.grants(rangeId("LAB")),
    yield* groups.list(),
    yield* blueprints.list(),
    yield* blueprints.config(blueprint.id),
    yield* sources.list(),
    yield* sources.claims(source.recordId),
    yield* machines.cluster,
    yield* machines.templates,
    yield* machines.ofRange(rangeId("LAB")),
    [...(yield* machines.reservations(rangeId("LAB")))],
    yield* (yield* RunJournal).list({ limit: 10 }),
    yield* (yield* RunJournal).read(started.id, 0),
    yield* (yield* MigrationRecords).find,
  ])
})

const lab = rangeId("LAB")
const span = { from: 100, to: 110 }

/** The writes that operations make, by the names of the port and the method. */
const writes: Readonly<Record<string, Effect.Effect<unknown, unknown, StoragePorts>>> = {
  "Users.create": Users.use((users) => users.create(newUser("dave"))),
  "Users.change": Users.use((users) => users.change(userId("alice"), { name: "Other" })),
  "Users.setAdmin": Users.use((users) => users.setAdmin(userId("alice"), true)),
  "Users.setSecrets": Users.use((users) => users.setSecrets(userId("alice"), { apiKeyHash: "another" })),
  "Users.remove": Users.use((users) => users.remove(userId("alice"))),
  "Ranges.create": Ranges.use((ranges) => ranges.create(newRange("NEW"))),
  "Ranges.change": Ranges.use((ranges) => ranges.change(lab, { name: "Other" })),
  "Ranges.setConfig": Ranges.use((ranges) => ranges.setConfig(lab, "ludus: [] # other\n")),
  "Ranges.grant": Ranges.use((ranges) => ranges.grant(lab, userId("bob"))),
  "Ranges.revoke": Ranges.use((ranges) => ranges.revoke(lab, userId("alice"))),
  "Ranges.remove": Ranges.use((ranges) => ranges.remove(lab)),
  "Groups.create": Groups.use((groups) => groups.create(newGroup("New"))),
  "Groups.setRoles": Groups.use((groups) => groups.setRoles(group.name, new Map([[userId("bob"), "member" as const]]))),
  "Groups.addRange": Groups.use((groups) => groups.addRange(group.name, lab)),
  "Groups.removeRange": Groups.use((groups) => groups.removeRange("H" as GroupName, lab)),
  "Groups.remove": Groups.use((groups) => groups.remove(group.name)),
  "Blueprints.create": Blueprints.use((all) => all.create(newBlueprint("web/two"))),
  "Blueprints.change": Blueprints.use((all) => all.change(blueprint.id, { name: "Other" })),
  "Blueprints.setConfig": Blueprints.use((all) => all.setConfig(blueprint.id, "ludus: [] # other\n")),
  "Blueprints.setInstallation": Blueprints.use((all) =>
    all.setInstallation(blueprint.id, { status: "ok", error: "", at: startedAt }),
  ),
  "Blueprints.putFromSource": Blueprints.use((all) =>
    all.putFromSource([
      { ...newBlueprint("labs/one"), origin: { source: source.recordId, sourceBlueprintID: "one", url: source.url } as never },
    ]),
  ),
  "Blueprints.shareWithUser": Blueprints.use((all) => all.shareWithUser(blueprint.id, userId("carol"))),
  "Blueprints.unshareWithUser": Blueprints.use((all) => all.unshareWithUser(blueprint.id, userId("bob"))),
  "Blueprints.shareWithGroup": Blueprints.use((all) => all.shareWithGroup(blueprint.id, group.name)),
  "Blueprints.unshareWithGroup": Blueprints.use((all) => all.unshareWithGroup(blueprint.id, "H" as GroupName)),
  "Blueprints.remove": Blueprints.use((all) => all.remove(blueprint.id)),
  "Sources.create": Sources.use((sources) => sources.create(newSource("more"))),
  "Sources.change": Sources.use((sources) => sources.change(source.recordId, { ref: "main" })),
  "Sources.land": Sources.use((sources) => sources.commitSync(source, { snapshot, syncedAt: startedAt })),
  "Sources.setOutcome": Sources.use((sources) => sources.setOutcome(source.recordId, { status: "error" as never, error: "no" })),
  "Sources.postpone": Sources.use((sources) => sources.postpone(source.recordId, later(5), later(9))),
  "Sources.claim": Sources.use((sources) =>
    sources.claim(source.recordId, [{ kind: "template", name: "new", version: "", scope: global }]),
  ),
  "Sources.release": Sources.use((sources) => sources.release(["template"], "old", global)),
  "Sources.remove": Sources.use((sources) => sources.remove(source.recordId)),
  "Machines.reserve": Machines.use((machines) => machines.reserve(lab, ["new"], new Set(), span)),
  "Machines.release": Machines.use((machines) => machines.release(lab, ["kept"])),
  "Machines.forget": Machines.use((machines) => machines.forget(vmid(102))),
  "RunJournal.open": RunJournal.use((journal) =>
    journal.open(deployRun("other", { kind: "move" as never, subject: installation }), undefined),
  ),
  "RunJournal.append": RunJournal.use((journal) => journal.append(started.id, 1, [{ type: "Waiting", reason: "x" }], startedAt)),
  "RunJournal.requestCancel": RunJournal.use((journal) =>
    journal.requestCancel(started.id, 0, { type: "CancelRequested", by: userId("alice") }, startedAt, "ABORTED"),
  ),
  "RunJournal.close": RunJournal.use((journal) => journal.close(started.id, 1, ended, "SUCCESS", startedAt)),
}

/** Every write of the storage ports stores its change and the entry of its operation atomically. */
export const auditedWritesContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: audited writes`, () => {
    const check = promises(storage)

    for (const [name, write] of Object.entries(writes))
      check(
        `${name} is made with its entry, and not without`,
        Effect.gen(function* () {
          yield* seeded
          const before = yield* shown
          const refused = yield* Effect.flip(Effect.provideService(write, CurrentAudit, impossible()))
          expect(refused).toBeInstanceOf(StorageFault)
          expect(yield* shown).toBe(before)
          expect(yield* outcomes).toEqual([])
          const audited = draft()
          yield* Effect.provideService(write, CurrentAudit, audited)
          expect(yield* shown).not.toBe(before)
          expect([audited.kept, yield* outcomes]).toEqual([true, [begun]])
        }) as Effect.Effect<void, never, StoragePorts>,
      )

    check(
      "an operation of several changes, even concurrent ones, has one entry, which gets the outcome at the end",
      Effect.gen(function* () {
        yield* seeded
        const audited = draft()
        const ids = ["dave", "erin", "frank", "grace"]
        yield* Effect.forEach(ids, (id) => Users.use((users) => users.create(newUser(id))), { concurrency: ids.length }).pipe(
          Effect.andThen(AuditTrail.use(({ begin }) => begin)),
          Effect.provideService(CurrentAudit, audited),
        )
        expect(yield* outcomes).toEqual([begun])
        const audit = yield* AuditTrail
        yield* audit.record(entry(later(1), "ok"), audited.key)
        yield* audit.record(entry(later(2), "ok"), audited.key)
        expect((yield* audit.list(10)).map(({ at, outcome }) => [at, outcome])).toEqual([[startedAt, "ok"]])
        yield* audit.record(entry(later(3), "ok"))
        yield* audit.record(entry(later(3), "ok"))
        yield* audit.record(entry(later(4), "Conflict"), "of another draft")
        expect(yield* outcomes).toEqual(["Conflict", "ok", "ok", "ok"])
      }),
    )

    check(
      "a refused change leaves no entry, and a later one of the operation does",
      Effect.gen(function* () {
        yield* seeded
        const audited = draft()
        const users = yield* Users
        yield* Effect.flip(users.create(newUser("alice"))).pipe(Effect.provideService(CurrentAudit, audited))
        expect([audited.kept, yield* outcomes]).toEqual([false, []])
        yield* Effect.provideService(users.create(newUser("dave")), CurrentAudit, audited)
        expect([audited.kept, yield* outcomes]).toEqual([true, [begun]])
      }),
    )

    check(
      "an operation that changes something elsewhere writes its entry first",
      Effect.gen(function* () {
        const audit = yield* AuditTrail
        yield* audit.begin
        expect(yield* outcomes).toEqual([])
        const audited = draft()
        yield* Effect.provideService(audit.begin, CurrentAudit, audited)
        yield* Effect.provideService(audit.begin, CurrentAudit, audited)
        expect([audited.kept, yield* outcomes]).toEqual([true, [begun]])
        expect(yield* Effect.flip(Effect.provideService(audit.begin, CurrentAudit, impossible()))).toBeInstanceOf(StorageFault)
      }),
    )

    it("a process that ends after the change leaves both", async () => {
      const { layer, remove } = await storage.empty()
      const change = Effect.provideService(aliceWithLab, CurrentAudit, draft())
      await Effect.runPromise(Effect.provide(change, layer, { local: true }))
      const found = Effect.gen(function* () {
        return [(yield* (yield* Users).list).map(({ id }): UserId => id), yield* outcomes]
      })
      expect(await Effect.runPromise(Effect.provide(found, layer, { local: true }))).toEqual([["alice"], [begun]])
      await remove()
    })
  })
