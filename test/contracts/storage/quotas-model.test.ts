import { makeMemoryStore, memoryStorageLayer } from "@rangewright/adapter-memory"
import { type Amounts, type GroupName, noAmounts, quotaReport, quotaResources, type UserId } from "@rangewright/domain"
import { Groups, Machines, Quotas, Ranges, RunJournal, type StoragePorts, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import fc from "fast-check"
import { expect, it } from "vitest"
import { cluster, deployRun, machine, newGroup, newRange, newUser, rangeId, userId } from "./samples.ts"
import { later } from "./storage-under-test.ts"

/** The number of sequences. A full acceptance run has 10000. */
const sequences = Number(process.env["RANGEWRIGHT_MODEL_SEQUENCES"] ?? "150")

const people = ["alice", "bob", "carol"].map(userId)
const teams = ["red", "blue"] as GroupName[]
const labs = ["A", "B", "C"]
const names = ["a", "b", "c"]
const vmidOf = (id: string, name: string): number => 200 + 10 * labs.indexOf(id) + names.indexOf(name)

interface Sizes {
  readonly cpus: number
  readonly ram: number
}
type MachineSizes = ReadonlyMap<string, Sizes>

/** A model of the world kept independently of the product, from what users see. */
interface Lab {
  readonly madeFor: UserId
  readonly direct: Set<UserId>
  config: MachineSizes
  there: MachineSizes
  /** The machines that an unfinished deploy will create. */
  coming: MachineSizes | undefined
}
interface Paper {
  readonly labs: Map<string, Lab>
  readonly own: Map<UserId, Amounts>
  readonly ofTeam: Map<GroupName, Amounts>
  readonly teamsOf: Map<UserId, Set<GroupName>>
}

const chargedFor = ({ madeFor, direct }: Lab): UserId | undefined =>
  direct.has(madeFor) ? madeFor : people.find((person) => direct.has(person))

const counted = (paper: Paper, person: UserId): Amounts => {
  const sum = { ...noAmounts } as { -readonly [K in keyof Amounts]: number }
  for (const lab of paper.labs.values()) {
    if (chargedFor(lab) !== person) continue
    sum.ranges += 1
    for (const name of new Set([...lab.there.keys(), ...(lab.coming?.keys() ?? [])])) {
      const [a, b] = [lab.there.get(name), lab.coming?.get(name)]
      sum.vms += 1
      sum.cpus += Math.max(a?.cpus ?? 0, b?.cpus ?? 0)
      sum.ram += Math.max(a?.ram ?? 0, b?.ram ?? 0)
    }
  }
  return sum
}

const limitOf = (paper: Paper, person: UserId, resource: keyof Amounts): number => {
  const own = paper.own.get(person)?.[resource] ?? 0
  if (own > 0) return own
  return Math.max(0, ...[...(paper.teamsOf.get(person) ?? [])].map((team) => paper.ofTeam.get(team)?.[resource] ?? 0))
}

/** Whether the limits allow a change from one amount to another. */
const allowed = (paper: Paper, person: UserId, now: Amounts, then: Amounts): boolean =>
  quotaResources.every((resource) => {
    const limit = limitOf(paper, person, resource)
    return limit === 0 || then[resource] <= limit || then[resource] <= now[resource]
  })

const sizes = fc.record({ cpus: fc.integer({ min: 1, max: 4 }), ram: fc.integer({ min: 1, max: 8 }) })
const machines = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...names), sizes), { maxLength: 3, selector: ([name]) => name })
  .map((list): MachineSizes => new Map(list))
const amounts = fc.record({
  ram: fc.integer({ min: 0, max: 20 }),
  cpus: fc.integer({ min: 0, max: 10 }),
  vms: fc.integer({ min: 0, max: 5 }),
  ranges: fc.integer({ min: 0, max: 3 }),
})
const person = fc.constantFrom(...people)
const team = fc.constantFrom(...teams)
const lab = fc.constantFrom(...labs)

const anyChange = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("limit user" as const), person, amounts }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("limit team" as const), team, amounts }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("join" as const), person, team }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("leave" as const), person, team }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("make" as const), lab, person, machines }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), lab }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("configure" as const), lab, machines }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("grant" as const), lab, person }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("revoke" as const), lab, person }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("deploy" as const), lab }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("see" as const), lab, part: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("resize" as const), lab, machines }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("end" as const), lab, success: fc.boolean() }) },
)
type Change = typeof anyChange extends fc.Arbitrary<infer A> ? A : never

const textOf = (config: MachineSizes): string =>
  `ludus:${config.size === 0 ? " []" : ""}\n${[...config]
    .map(
      ([name, { cpus, ram }], i) =>
        `  - {vm_name: "${name}", hostname: h${i}, template: t, vlan: 10, ip_last_octet: ${11 + i}, ram_gb: ${ram}, cpus: ${cpus}, linux: true}\n`,
    )
    .join("")}`

const start: Effect.Effect<Paper, unknown, Users | Groups> = Effect.gen(function* () {
  const [users, groups] = [yield* Users, yield* Groups]
  for (const who of people) yield* users.create(newUser(who))
  for (const name of teams) yield* groups.create(newGroup(name))
  return { labs: new Map(), own: new Map(), ofTeam: new Map(), teamsOf: new Map(people.map((who) => [who, new Set()])) }
})

type OfLabs = Extract<Change, { readonly lab: string }>

/** Limits and memberships: never refused. */
const change = (paper: Paper, wanted: Exclude<Change, OfLabs>) =>
  Effect.gen(function* () {
    const [groups, quotas] = [yield* Groups, yield* Quotas]
    switch (wanted.kind) {
      case "limit user":
        yield* quotas.limitUsers([wanted.person], wanted.amounts)
        return void paper.own.set(wanted.person, wanted.amounts)
      case "limit team":
        yield* quotas.limitGroups([wanted.team], wanted.amounts)
        return void paper.ofTeam.set(wanted.team, wanted.amounts)
      case "join":
        yield* groups.setRoles(wanted.team, new Map([[wanted.person, "member"]]))
        return void paper.teamsOf.get(wanted.person)?.add(wanted.team)
      case "leave":
        yield* groups.setRoles(wanted.team, new Map([[wanted.person, undefined]]))
        return void paper.teamsOf.get(wanted.person)?.delete(wanted.team)
    }
  })

/** Whether the store made the change, which must be what the limits say. */
const isDone = (paper: Paper, who: UserId | undefined, then: Amounts, attempt: Effect.Effect<unknown, unknown>) =>
  Effect.map(Effect.result(attempt), (result) => {
    if (result._tag === "Failure") expect(result.failure).toMatchObject({ _tag: "QuotaExceeded" })
    const done = result._tag === "Success"
    expect(done).toBe(who === undefined || allowed(paper, who, counted(paper, who), then))
    return done
  })

const make = (paper: Paper, { lab: id, person: owner, machines: config }: Extract<OfLabs, { readonly kind: "make" }>) =>
  Effect.gen(function* () {
    const now = counted(paper, owner)
    const attempt = (yield* Ranges).create(newRange(id, { owners: [owner], config: textOf(config) }))
    if (yield* isDone(paper, owner, { ...now, ranges: now.ranges + 1 }, attempt))
      paper.labs.set(id, { madeFor: owner, direct: new Set([owner]), config, there: new Map(), coming: undefined })
  })

/** The hypervisor shows the existing machines. */
const observe = ({ labs: noted }: Paper, nth: number) =>
  Effect.gen(function* () {
    const seen = [...noted].flatMap(([id, { there }]) =>
      [...there].map(([name, { cpus, ram }]) =>
        machine(vmidOf(id, name), { name, cpus, memoryMiB: ram * 1024, pool: id, tags: ["rangewright"] }),
      ),
    )
    yield* (yield* Machines).replace(cluster(later(nth + 1), seen))
  })

const changeLab = (paper: Paper, nth: number, lab: Lab, wanted: Exclude<OfLabs, { readonly kind: "make" }>) =>
  Effect.gen(function* () {
    const [ranges, journal] = [yield* Ranges, yield* RunJournal]
    const id = rangeId(wanted.lab)
    switch (wanted.kind) {
      case "remove":
        if (lab.coming !== undefined) return
        yield* ranges.remove(id)
        paper.labs.delete(wanted.lab)
        return yield* observe(paper, nth)
      case "configure":
        yield* ranges.setConfig(id, textOf(wanted.machines))
        lab.config = wanted.machines
        return
      case "grant":
        yield* ranges.grant(id, wanted.person)
        return void lab.direct.add(wanted.person)
      case "revoke":
        yield* ranges.revoke(id, wanted.person)
        return void lab.direct.delete(wanted.person)
      case "deploy": {
        if (lab.coming !== undefined) return
        const who = chargedFor(lab)
        const after = { ...paper, labs: new Map([...paper.labs, [wanted.lab, { ...lab, coming: lab.config }]]) }
        const then = who === undefined ? noAmounts : counted(after, who)
        const run = deployRun(`run${nth}x`, { subject: { type: "range", id } })
        if (yield* isDone(paper, who, then, journal.open(run, "DEPLOYING", noAmounts))) lab.coming = lab.config
        return
      }
      case "see": {
        // the machines that the deploy has made so far
        const made = [...(lab.coming ?? [])].filter((_, i) => (wanted.part >> i) % 2 === 1)
        lab.there = new Map([...lab.there, ...made])
        return yield* observe(paper, nth)
      }
      case "resize":
        // somebody did it at the hypervisor, whatever the limits say
        lab.there = new Map([...lab.there].map(([name, size]) => [name, wanted.machines.get(name) ?? size]))
        return yield* observe(paper, nth)
      case "end": {
        const open = yield* journal.active({ type: "range", id })
        expect(open !== undefined).toBe(lab.coming !== undefined)
        if (open === undefined) return
        const generation = (yield* journal.claim(open.id, "worker", 60)) ?? 0
        const status = wanted.success ? "success" : "failure"
        const ended = { type: "Ended", status, message: "" } as const
        yield* journal.close(open.id, generation, ended, wanted.success ? "SUCCESS" : "ERROR", later(nth + 1))
        lab.coming = undefined
        return
      }
    }
  })

/** Applies a change to the store and to the model. */
const perform = (paper: Paper, nth: number, wanted: Change): Effect.Effect<void, unknown, StoragePorts> => {
  if (!("lab" in wanted)) return change(paper, wanted)
  const lab = paper.labs.get(wanted.lab)
  if (wanted.kind === "make") return lab === undefined ? make(paper, wanted) : Effect.void
  return lab === undefined ? Effect.void : changeLab(paper, nth, lab, wanted)
}

it("any sequence of changes is allowed and counted as in the model, even across a restart", { timeout: 1_800_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyChange, { minLength: 10, maxLength: 60, size: "max" }), fc.nat(), async (changes, restart) => {
      const store = makeMemoryStore()
      /** One process over the store. */
      const process = <A>(effect: Effect.Effect<A, unknown, StoragePorts>): Promise<A> =>
        Effect.runPromise(Effect.scoped(Effect.provide(effect, memoryStorageLayer(store))))
      const isAsOnPaper = (paper: Paper) =>
        Effect.gen(function* () {
          const facts = yield* (yield* Quotas).facts
          for (const who of people) {
            const { limits, used } = quotaReport(facts, who, noAmounts)
            expect(used).toEqual(counted(paper, who))
            for (const resource of quotaResources) expect(limits[resource]).toBe(limitOf(paper, who, resource))
          }
        })
      const all = (paper: Paper, from: number, to: number) =>
        Effect.gen(function* () {
          for (const [at, wanted] of changes.slice(from, to).entries()) {
            yield* perform(paper, from + at, wanted)
            yield* isAsOnPaper(paper)
          }
          return paper
        })
      const crash = restart % changes.length
      const paper = await process(Effect.flatMap(start, (empty) => all(empty, 0, crash)))
      await process(all(paper, crash, changes.length))
    }),
    { numRuns: sequences },
  )
})
