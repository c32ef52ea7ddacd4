import * as Result from "effect/Result"
import fc from "fast-check"
import { expect, test } from "vitest"
import { everythingShipped, expandSelection, type Selection } from "../src/catalog/index.ts"
import {
  dryRunOf,
  type InstallPlan,
  type InstallChoice,
  isNothingToDo,
  planInstall,
  type Present,
  type PresentCopy,
  stillShipped,
} from "../src/install/index.ts"
import { guessCollection, type SourceContent } from "../src/source/index.ts"
import { content, installed } from "./catalog-arbitrary.ts"

const present: fc.Arbitrary<Present> = fc
  .tuple(
    installed,
    fc.array(fc.constantFrom("a", "b", "c", "a/b")),
    fc.array(fc.boolean()),
    fc.array(fc.constantFrom("s/a", "s/b")),
  )
  .map(([{ templates, roles, collections }, rows, same, others]) => {
    const own = (copies: ReadonlyArray<{ readonly name: string; readonly version?: string; readonly scope: string }>) =>
      copies
        .filter(({ scope }) => scope === "user")
        .map(({ name, version }, at): PresentCopy => {
          const known = same[at]
          return { name, ...(version === undefined ? {} : { version }), ...(known === undefined ? {} : { same: known }) }
        })
    return {
      templates: [...new Set(templates)].map((name) => ({ name })),
      roles: own(roles),
      collections: own(collections),
      globalRoles: roles.filter(({ scope }) => scope === "global").map(({ name }) => name),
      blueprints: [...new Set(rows)].map((sourceBlueprintID) => ({ sourceBlueprintID, same: false })),
      otherBlueprints: new Set(others),
      builtInTemplates: new Set(["d"]),
    }
  })
const force = fc.boolean()

/** A part of what the source ships, chosen by the same dice for every content. */
const partOf = (given: SourceContent, dice: ReadonlyArray<boolean>): Selection => {
  const all = everythingShipped(given)
  let at = 0
  const some = (names: ReadonlyArray<string>) => names.filter(() => dice[at++ % Math.max(1, dice.length)] ?? false)
  return {
    blueprints: some(all.blueprints),
    templates: some(all.templates),
    localRoles: some(all.localRoles),
    localCollections: some(all.localCollections),
  }
}
const planOf = (given: SourceContent, there: Present, wish: InstallChoice): InstallPlan => {
  const plan = planInstall({ id: "s", content: given }, there, wish)
  if (Result.isFailure(plan)) throw new Error(`unknown: ${JSON.stringify(plan.failure)}`)
  return plan.success
}
const law = (check: (given: SourceContent, there: Present, dice: ReadonlyArray<boolean>, forced: boolean) => void): void =>
  fc.assert(fc.property(content, present, fc.array(fc.boolean(), { minLength: 1 }), force, check), { numRuns: 300 })

const merge = (copies: ReadonlyArray<PresentCopy>, added: ReadonlyArray<PresentCopy>): ReadonlyArray<PresentCopy> => [
  ...copies.filter(({ name }) => !added.some((other) => other.name === name)),
  ...added,
]

/** What is there after a plan was carried out without a failure. */
const carriedOut = (there: Present, plan: InstallPlan): Present => {
  const placed = (kind: "template" | "role" | "collection") =>
    plan.artifacts
      .filter((item) => item.kind === kind && (item.change === "place" || item.change === "replace"))
      .map(({ name, version }): PresentCopy => ({ name, same: true, ...(version === undefined ? {} : { version }) }))
  const fetched = (name: string | undefined): ReadonlyArray<PresentCopy> => (name === undefined ? [] : [{ name }])
  const rows = plan.blueprints.filter(({ change }) => change !== "refuse").map(({ blueprint }) => blueprint.id)
  return {
    ...there,
    templates: merge(there.templates, placed("template")),
    roles: merge(there.roles, [
      ...placed("role"),
      ...plan.roles.flatMap(({ requirement, change }) => (change === "place" ? fetched(requirement.name) : [])),
    ]),
    collections: merge(there.collections, [
      ...placed("collection"),
      ...plan.collections.flatMap(({ requirement: { name, type }, change }) =>
        change === "place" ? fetched(type === "git" && name !== undefined ? guessCollection(name) : name) : [],
      ),
    ]),
    globalRoles: [...there.globalRoles, ...plan.subscriptionRoles.map(({ name }) => name)],
    blueprints: [
      ...there.blueprints.filter(({ sourceBlueprintID: id }) => !plan.pruned.includes(id) && !rows.includes(id)),
      ...rows.map((sourceBlueprintID) => ({ sourceBlueprintID, same: true })),
    ],
  }
}

test("a plan that was carried out leaves nothing to do", () => {
  law((given, there, dice) => {
    const wish = { selection: partOf(given, dice) }
    // A repository whose collection cannot be told from its URL is fetched again each time: nobody knows whether it is there.
    const untold = given.blueprints.some(({ requirements }) =>
      requirements.collections.some(
        ({ name, type }) => type === "git" && name !== undefined && guessCollection(name) === undefined,
      ),
    )
    fc.pre(!untold)
    const after = carriedOut(there, planOf(given, there, wish))
    expect(isNothingToDo(planOf(given, after, wish))).toBe(true)
  })
})

test("a forced plan that was carried out leaves nothing of the source's own to do", () => {
  law((given, there, dice) => {
    const wish = { selection: partOf(given, dice), force: true, noDeps: true }
    const after = carriedOut(there, planOf(given, there, wish))
    const { roles, collections } = after
    fc.pre([...roles, ...collections, ...after.templates].every(({ same }) => same !== false))
    expect(isNothingToDo(planOf(given, after, wish))).toBe(true)
  })
})

test("an installation is additive: more selected never means less done", () => {
  law((given, there, dice, forced) => {
    const more = partOf(given, dice)
    const less = partOf(
      given,
      dice.map((die, at) => die && at % 2 === 0),
    )
    const both = {
      blueprints: [...new Set([...more.blueprints, ...less.blueprints])],
      templates: [...new Set([...more.templates, ...less.templates])],
      localRoles: [...new Set([...more.localRoles, ...less.localRoles])],
      localCollections: [...new Set([...more.localCollections, ...less.localCollections])],
    }
    const [small, large] = [
      planOf(given, there, { selection: less, force: forced }),
      planOf(given, there, { selection: both, force: forced }),
    ]
    expect(large.artifacts).toEqual(expect.arrayContaining([...small.artifacts]))
    expect(large.blueprints).toEqual(expect.arrayContaining([...small.blueprints]))
    expect(large.roles.map(({ requirement }) => requirement.name)).toEqual(
      expect.arrayContaining(small.roles.map(({ requirement }) => requirement.name)),
    )
  })
})

test("exactly the selection and its needs are planned", () => {
  law((given, there, dice, forced) => {
    const selection = partOf(given, dice)
    const expanded = Result.getOrThrow(expandSelection(given, selection))
    const plan = planOf(given, there, { selection, force: forced })
    const names = (kind: string) => plan.artifacts.filter((item) => item.kind === kind).map(({ name }) => name)
    expect(plan.selection).toEqual(expanded)
    expect(names("template")).toEqual(expanded.templates)
    expect(names("role")).toEqual(expanded.localRoles)
    expect(names("collection")).toEqual(expanded.localCollections)
    expect(plan.blueprints.map(({ blueprint }) => blueprint.id)).toEqual(expanded.blueprints)
    const shipped = new Set(given.blueprints.map(({ id }) => id))
    expect(plan.pruned.every((id) => !shipped.has(id))).toBe(true)
  })
})

test("without force nothing that is there is replaced", () => {
  law((given, there) => {
    const { artifacts, roles, collections } = planOf(given, there, {})
    expect([...artifacts, ...roles, ...collections].filter(({ change }) => change === "replace")).toEqual([])
  })
})

test("what the source ships is never fetched from elsewhere, and each name once", () => {
  law((given, there, dice, forced) => {
    const { roles, collections } = planOf(given, there, { selection: partOf(given, dice), force: forced })
    const [roleNames, collectionNames] = [roles.map((r) => r.requirement.name), collections.map((c) => c.requirement.name)]
    for (const { name } of given.roles) expect(roleNames).not.toContain(name)
    for (const { name } of given.collections) expect(collectionNames).not.toContain(name)
    expect(new Set(roleNames).size).toBe(roleNames.length)
    expect(new Set(collectionNames).size).toBe(collectionNames.length)
  })
})

test("a dry run lists every item once, and names as installed what will be installed", () => {
  law((given, there, dice, forced) => {
    const plan = planOf(given, there, { selection: partOf(given, dice), force: forced })
    const told = dryRunOf({ id: "s", name: "S" }, plan)
    expect(told.items.length).toBe(
      plan.artifacts.length +
        plan.blueprints.length +
        plan.pruned.length +
        plan.roles.length +
        plan.collections.length +
        plan.subscriptionRoles.length,
    )
    const lists = [
      told.blueprintIDs,
      told.templates,
      told.localRoles,
      told.localCollections,
      told.galaxyRoles,
      told.galaxyCollections,
      told.subscriptionRoles,
      told.prunedBlueprintIDs,
    ]
    expect(isNothingToDo(plan)).toBe(lists.every((names) => names.length === 0))
  })
})

test("what is still shipped of a selection can be installed, whatever else was in it", () => {
  law((given, there, dice) => {
    const some = partOf(given, dice)
    const gone = { ...some, blueprints: [...some.blueprints, "gone"], templates: ["gone", ...some.templates] }
    const { blueprints, templates, localRoles, localCollections } = stillShipped(given, gone)
    expect([...blueprints].toSorted()).toEqual([...some.blueprints].toSorted())
    expect([...templates].toSorted()).toEqual([...some.templates].toSorted())
    planOf(given, there, { selection: { blueprints, templates, localRoles, localCollections } })
  })
})
