import { GroupNotFound, type GroupName, noAmounts, QuotaExceeded, quotaReport, UserNotFound } from "@rangewright/domain"
import { Groups, Machines, Quotas, Ranges, RunJournal, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, type SuiteCollector } from "vitest"
import { cluster, machine, newGroup, newRange, newUser, rangeId, deployRun, userId } from "./samples.ts"
import { later, promises, type StorageUnderTest } from "./storage-under-test.ts"

const red = "red" as GroupName
const alice = userId("alice")
const config = (...names: readonly string[]): string =>
  `ludus:\n${names
    .map(
      (name, i) =>
        `  - {vm_name: "${name}", hostname: h${i}, template: t, vlan: 10, ip_last_octet: ${11 + i}, ram_gb: 4, cpus: 2, linux: true}\n`,
    )
    .join("")}`

/** Alice, who has LAB with two machines in its configuration. */
const lab = Effect.gen(function* () {
  yield* (yield* Users).create(newUser("alice"))
  return yield* (yield* Ranges).create(newRange("LAB", { owners: [alice], config: config("a", "b") }))
})
const report = Effect.map(
  Quotas.use((quotas) => quotas.facts),
  (facts) => quotaReport(facts, alice, noAmounts),
)
const deploy = (id: string, of = "LAB") =>
  RunJournal.use((journal) =>
    journal.open(deployRun(id, { subject: { type: "range", id: rangeId(of) } }), "DEPLOYING", noAmounts),
  )

export const quotasContract = (storage: StorageUnderTest): SuiteCollector =>
  describe(`${storage.name}: quotas`, () => {
    const it = promises(storage)

    it(
      "stores limits of users and groups, changes the named ones, and all or nothing",
      Effect.gen(function* () {
        yield* lab
        const quotas = yield* Quotas
        yield* (yield* Groups).create(newGroup(red))
        yield* (yield* Groups).setRoles(red, new Map([[alice, "member"]]))
        yield* quotas.limitUsers([alice], { ram: 32, vms: 5 })
        yield* quotas.limitUsers([alice], { vms: 0, ranges: 2 })
        yield* quotas.limitGroups([red], { cpus: 8, vms: 9 })
        const unknown = userId("nobody")
        expect(yield* Effect.flip(quotas.limitUsers([alice, unknown], { ram: 1 }))).toBeInstanceOf(UserNotFound)
        expect(yield* Effect.flip(quotas.limitGroups([red, "blue" as GroupName], { cpus: 1 }))).toBeInstanceOf(GroupNotFound)
        expect(yield* report).toMatchObject({
          limits: { ram: 32, cpus: 8, vms: 9, ranges: 2 },
          sources: { ram: "U", cpus: "G", vms: "G", ranges: "U" },
        })
        yield* (yield* Groups).remove(red)
        expect(yield* report).toMatchObject({ limits: { ram: 32, cpus: 0, vms: 0, ranges: 2 } })
        yield* (yield* Users).remove(alice)
        yield* (yield* Users).create(newUser("alice"))
        expect(yield* report).toMatchObject({ limits: noAmounts })
      }),
    )

    it(
      "counts existing machines and those of an unfinished deploy, but never the router",
      Effect.gen(function* () {
        yield* lab
        expect((yield* report).used).toEqual({ ram: 0, cpus: 0, vms: 0, ranges: 1 })
        const run = yield* deploy("one")
        expect((yield* report).used).toEqual({ ram: 8, cpus: 4, vms: 2, ranges: 1 })
        const seen = [
          machine(141, { name: "a", cpus: 3 }),
          machine(142, { name: "r", tags: ["router"] }),
          machine(143, { template: true }),
        ]
        yield* (yield* Machines).replace(cluster(later(1), seen))
        expect((yield* report).used).toEqual({ ram: 8, cpus: 5, vms: 2, ranges: 1 })
        const journal = yield* RunJournal
        const generation = (yield* journal.claim(run.id, "worker", 60)) ?? 0
        yield* journal.close(run.id, generation, { type: "Ended", status: "failure", message: "" }, "ERROR", later(2))
        expect((yield* report).used).toEqual({ ram: 2, cpus: 3, vms: 1, ranges: 1 })
      }),
    )

    it(
      "opens no deploy and creates no range above the limit, and leaves no trace of them",
      Effect.gen(function* () {
        yield* lab
        const quotas = yield* Quotas
        yield* quotas.limitUsers([alice], { cpus: 3, ranges: 1 })
        expect(yield* Effect.flip(deploy("one"))).toBeInstanceOf(QuotaExceeded)
        const more = newRange("MORE", { owners: [alice] })
        expect(yield* Effect.flip((yield* Ranges).create(more))).toBeInstanceOf(QuotaExceeded)
        expect(yield* (yield* RunJournal).list({ limit: 10 })).toEqual([])
        expect((yield* (yield* Ranges).list()).map(({ id, state }) => [id, state])).toEqual([["LAB", "NEVER DEPLOYED"]])
        yield* quotas.limitUsers([alice], { cpus: 4 })
        yield* deploy("two")
      }),
    )

    it(
      "allows exactly as many concurrent requests as fit",
      Effect.gen(function* () {
        yield* (yield* Users).create(newUser("alice"))
        yield* (yield* Quotas).limitUsers([alice], { vms: 7, ranges: 16 })
        const ids = Array.from({ length: 24 }, (_, i) => `R${i}`)
        const made = yield* Effect.forEach(
          ids,
          (id) =>
            Effect.result(Ranges.use((ranges) => ranges.create(newRange(id, { owners: [alice], config: config("a", "b") })))),
          { concurrency: "unbounded" },
        )
        const there = ids.filter((_, i) => made[i]?._tag === "Success")
        expect(there).toHaveLength(16)
        const opened = yield* Effect.forEach(there, (id) => Effect.result(deploy(`run${id.toLowerCase()}z`, id)), {
          concurrency: "unbounded",
        })
        expect(opened.filter((one) => one._tag === "Success")).toHaveLength(3)
        expect((yield* report).used).toMatchObject({ vms: 6, ranges: 16 })
      }),
    )

    it(
      "charges the user a range was created for, whoever it is shared with, and the next user when that one loses it",
      Effect.gen(function* () {
        const ranges = yield* Ranges
        const users = yield* Users
        yield* users.create(newUser("admin"))
        const early = (yield* users.create(newUser("early"))).id
        yield* users.create(newUser("alice"))
        yield* ranges.create(newRange("LAB", { createdBy: userId("admin") }))
        const payer = Effect.map(
          Quotas.use((quotas) => quotas.facts),
          (facts) => facts.ranges[0]?.payer,
        )
        expect(yield* payer).toBeUndefined()
        yield* ranges.grant(rangeId("LAB"), alice)
        yield* ranges.grant(rangeId("LAB"), early)
        expect(yield* payer).toBe(alice)
        yield* ranges.revoke(rangeId("LAB"), alice)
        expect(yield* payer).toBe(early)
        yield* ranges.grant(rangeId("LAB"), alice)
        yield* users.remove(alice)
        expect(yield* payer).toBe(early)
      }),
    )
  })
