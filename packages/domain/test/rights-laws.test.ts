import * as Schema from "effect/Schema"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  type AccessChange,
  type AccountId,
  adminGroup,
  changesOf,
  changesOfRange,
  concernsRange,
  desiredAccess,
  groupOfAccount,
  HeldAccessJson,
  heldInLine,
  pendingAccess,
  placePath,
  planAccess,
  placesOf,
  type RightsOnNetworks,
  userGroup,
} from "../src/index.ts"
import { draft, meddling, round, start, vnets } from "./rights-arbitrary.ts"
import { labAfter } from "./rights-lab.ts"

const rounds = fc.array(round, { maxLength: 3 })
const settled = fc.constantFrom<RightsOnNetworks>(vnets, vnets, { type: "bridges" })
const taking: readonly AccessChange["kind"][] = ["revoke", "leave-groups", "remove-account", "remove-group", "remove-pool"]

describe("access in line", () => {
  test("has no differences, whatever the order of changes within a phase", () => {
    fc.assert(
      fc.property(start, meddling, draft, settled, fc.boolean(), (world, others, one, networks, reversed) => {
        const { lab, stored } = labAfter(world, [], one)
        lab.model.meddle(others)
        lab.reconcile(lab.desire(stored, networks), reversed)
        lab.expectInLine(stored, networks)
      }),
      { numRuns: 200 },
    )
  })

  test("is reached after interruptions and changes anywhere, and nothing is left of what is gone", () => {
    fc.assert(
      fc.property(start, rounds, meddling, draft, settled, (world, before, others, one, networks) => {
        const { lab, stored } = labAfter(world, before, one)
        lab.model.meddle(others)
        lab.reconcile(lab.desire(stored, networks))
        lab.expectInLine(stored, networks)
      }),
      { numRuns: 250 },
    )
  })

  test("neither revokes nor grants anything of others", () => {
    fc.assert(
      fc.property(start, rounds, draft, settled, (world, before, one, networks) => {
        const { lab, others, stored } = labAfter(world, before, one, true)
        lab.reconcile(lab.desire(stored, networks))
        expect(lab.others()).toEqual(others)
      }),
      { numRuns: 250 },
    )
  })

  test("of one range has the same differences, whether or not the others are considered", () => {
    fc.assert(
      fc.property(start, rounds, meddling, draft, settled, (world, before, others, one, networks) => {
        const { lab, stored } = labAfter(world, before, one)
        lab.model.meddle(others)
        const observed = lab.model.observe()
        const desired = desiredAccess(stored, networks)
        const all = changesOf(planAccess({ desired, held: lab.held, observed }))
        for (const range of stored.ranges) {
          const alone = desiredAccess({ ...stored, ranges: [range] }, networks)
          expect(changesOfRange({ desired: alone, held: lab.held, observed }, range.id)).toEqual(
            all.filter((change) => concernsRange(desired, change, range.id)),
          )
        }
      }),
      { numRuns: 250 },
    )
  })

  test("has nothing pending, and can be serialized", () => {
    fc.assert(
      fc.property(start, rounds, draft, settled, (world, before, one, networks) => {
        const { lab, stored } = labAfter(world, before, one)
        const desired = lab.desire(stored, networks)
        const { notes } = lab.reconcile(desired)
        const held = heldInLine(lab.held, desired, [])
        expect(held.vnets.length).toBeLessThanOrEqual(stored.ranges.length)
        const { revocations, others } = pendingAccess(held, desired)
        expect({ revocations, others: others.length }).toEqual({
          revocations: [],
          others: notes.filter((note) => note.startsWith("the password")).length,
        })
        expect(Schema.decodeUnknownSync(HeldAccessJson)(JSON.parse(JSON.stringify(held)))).toEqual(held)
      }),
      { numRuns: 250 },
    )
  })
})

describe("a plan", () => {
  test("revokes before it grants, and tidies up only what costs nobody access", () => {
    fc.assert(
      fc.property(start, rounds, meddling, draft, settled, (world, before, others, one, networks) => {
        const { lab, stored } = labAfter(world, before, one)
        lab.model.meddle(others)
        const desired = lab.desire(stored, networks)
        const plan = lab.plan(desired)
        lab.note(desired, plan)
        const who = () => stored.ranges.flatMap((range) => placesOf(range, networks).map((place) => lab.model.effective(place)))
        const go = (changes: readonly AccessChange[]) => {
          const was = who()
          for (const change of changes) lab.make(change, desired)
          return was.map((some, index) => [some, who()[index]!] as const)
        }
        expect(plan.take.every(({ kind }) => taking.includes(kind))).toBe(true)
        // what an entry of an account's own has hidden so far
        const byGroups = () =>
          stored.ranges.flatMap((range) => placesOf(range, networks).map((place) => lab.model.effective(place, true)))
        const isGiven = (was: ReadonlySet<string>, is: ReadonlySet<string>, shown: ReadonlySet<string>) =>
          [...is].filter((name) => !was.has(name) && !shown.has(name))
        const hidden = byGroups()
        for (const [index, [was, is]] of go(plan.take).entries()) expect(isGiven(was, is, hidden[index]!)).toEqual([])
        go([...plan.prepare, ...plan.make])
        for (const [was, is] of go(plan.give))
          expect([...was].filter((name) => !name.endsWith(" in part") && !is.has(name))).toEqual([])
        expect([...plan.prepare, ...plan.make, ...plan.give].some(({ kind }) => taking.includes(kind))).toBe(false)
        const given = byGroups()
        for (const [index, [was, is]] of go(plan.tidy).entries()) {
          expect([...was].filter((name) => !name.endsWith(" in part") && !is.has(name))).toEqual([])
          expect(isGiven(was, is, given[index]!)).toEqual([])
        }
      }),
      { numRuns: 250 },
    )
  })

  test("that fails is planned the same way again, and the held state does not grow", () => {
    fc.assert(
      fc.property(start, rounds, draft, settled, (world, before, one, networks) => {
        const { lab, stored } = labAfter(world, before, one)
        const desired = lab.desire(stored, networks)
        const first = lab.plan(desired)
        lab.note(desired, first)
        const { held } = lab
        expect(lab.plan(desired)).toEqual(first)
        lab.note(desired, first)
        expect(lab.held).toEqual(held)
      }),
      { numRuns: 250 },
    )
  })

  test("gives nothing to ranges that leave, and touches no VNet of a cluster not seen yet", () => {
    fc.assert(
      fc.property(start, rounds, meddling, draft, fc.boolean(), (world, before, others, one, isKnown) => {
        const { lab, stored } = labAfter(world, before, one)
        lab.model.meddle(others)
        const desired = lab.desire(stored, isKnown ? vnets : { type: "unknown" })
        const leaving = new Set(stored.ranges.flatMap((range) => (range.leaving ? placesOf(range, vnets).map(placePath) : [])))
        for (const change of changesOf(lab.plan(desired))) {
          if (change.kind === "create-pool") expect(leaving).not.toContain(`/pool/${change.rangeId}`)
          if (change.kind === "grant") expect(leaving).not.toContain(placePath(change.place))
          if (change.kind === "grant" || change.kind === "revoke") expect(isKnown || change.place.type !== "vnet").toBe(true)
        }
      }),
      { numRuns: 250 },
    )
  })
})

test("no two accounts share a group", () => {
  const name = fc.string({ unit: fc.constantFrom("a", "2", "e", ".", "-", "_", "@", "é", "💥"), maxLength: 8 })
  fc.assert(
    fc.property(name, name, (one, other) => {
      const [a, b] = [groupOfAccount(one as AccountId), groupOfAccount(other as AccountId)]
      expect(a === b).toBe(one === other)
      expect(a).toMatch(/^[A-Za-z0-9._-]+$/u)
      expect([userGroup, adminGroup]).not.toContain(a)
    }),
    { numRuns: 250 },
  )
})
