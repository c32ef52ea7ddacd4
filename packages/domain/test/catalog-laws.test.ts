import * as Result from "effect/Result"
import fc from "fast-check"
import { expect, test } from "vitest"
import {
  type BlueprintRow,
  type CatalogItem,
  catalogOf,
  everythingShipped,
  expandSelection,
  type Installed,
  surveySource,
} from "../src/catalog/index.ts"
import type { SourceContent } from "../src/source/index.ts"
import { content, installed, rows } from "./catalog-arbitrary.ts"

const source = { id: "s", name: "S" }
const law = (check: (content: SourceContent, installed: Installed, rows: ReadonlyArray<BlueprintRow>) => void): void =>
  fc.assert(fc.property(content, installed, rows, check), { numRuns: 300 })

const isSorted = (names: ReadonlyArray<string>): boolean => names.every((name, at) => at === 0 || (names[at - 1] ?? "") < name)

test("a catalog is the same whatever the order of what it is made of, and whether the survey was kept", () => {
  law((given, present, known) => {
    const made = catalogOf({ source, content: given }, present, known)
    const { manifest, ...lists } = given
    const { blueprints, templates, roles, collections } = lists
    const turned: SourceContent = {
      manifest,
      blueprints: blueprints.toReversed(),
      templates: templates.toReversed(),
      roles: roles.toReversed(),
      collections: collections.toReversed(),
      broken: given.broken.toReversed(),
    }
    const others: Installed = {
      templates: present.templates.toReversed(),
      roles: present.roles.toReversed(),
      collections: present.collections.toReversed(),
    }
    // Two roles in directories of one name share that name: which of them it means then depends on their order.
    fc.pre(new Set(roles.map(({ directory }) => directory)).size === roles.length)
    expect(catalogOf({ source, content: turned }, others, known.toReversed())).toEqual(made)
    expect(catalogOf({ source, content: given }, present, known, surveySource(given))).toEqual(made)
  })
})

test("a catalog is plain data: it stays the same through JSON, and no field is empty that may be absent", () => {
  law((given, present, known) => {
    const made = catalogOf({ source, content: given }, present, known)
    expect(JSON.parse(JSON.stringify(made))).toEqual(made)
    const always = new Set([
      "items",
      "requiredRoles",
      "requiredCollections",
      "subscriptionRoles",
      "templates",
      "localRoles",
      "localCollections",
    ])
    const look = (value: unknown, key: string, top: boolean): void => {
      if (typeof value === "object" && value !== null) {
        if (!top && !always.has(key)) expect(Object.keys(value)).not.toEqual([])
        for (const [name, child] of Object.entries(value)) look(child, name, Array.isArray(value))
      } else expect(value).not.toBe(false)
    }
    look(made, "catalog", true)
  })
})

test("everything that is shipped and everything that is declared is in the catalog once, in order", () => {
  law((given, present, known) => {
    const { blueprints, templates, localRoles, localCollections } = catalogOf({ source, content: given }, present, known)
    const names = (items: ReadonlyArray<CatalogItem>): ReadonlyArray<string> => items.map(({ name }) => name)
    expect({
      blueprints: blueprints.items.map(({ id }) => id),
      templates: names(templates),
      localRoles: names(localRoles),
      localCollections: names(localCollections),
    }).toEqual(everythingShipped(given))
    const declared = given.blueprints.flatMap(({ requirements }) => requirements.roles.flatMap(({ name }) => name ?? []))
    expect(names(blueprints.requiredRoles)).toEqual([...new Set(declared)].toSorted())
    for (const { requiredBy } of [
      ...blueprints.requiredRoles,
      ...blueprints.requiredCollections,
      ...localRoles,
      ...localCollections,
    ])
      expect(requiredBy === undefined || isSorted(requiredBy)).toBe(true)
  })
})

test("the first copy determines an item's state, a global one before the user's", () => {
  law((given, present, known) => {
    const { blueprints, localRoles, localCollections } = catalogOf({ source, content: given }, present, known)
    const items = [...localRoles, ...localCollections, ...blueprints.requiredRoles, ...blueprints.requiredCollections]
    for (const { state, installedVersion, global, scopes, type } of items) {
      expect(state === "not_installed").toBe(scopes === undefined)
      if (scopes === undefined) continue
      expect(installedVersion).toBe(scopes[0]?.version)
      expect(global === true).toBe(scopes[0]?.scope === "global")
      expect(scopes.map(({ scope }) => scope).toSorted()).toEqual(scopes.map(({ scope }) => scope))
      if (type !== "git") expect(state).toBe(scopes[0]?.state)
    }
    for (const { state } of [...localRoles, ...localCollections]) expect(state).not.toBe("upgrade_available")
  })
})

test("a role in a blueprint's configuration is shipped, declared, in such a collection, or reported as undeclared", () => {
  law((given, present, known) => {
    const { blueprints } = catalogOf({ source, content: given }, present, known)
    for (const { id, references, requirements } of given.blueprints) {
      const told = (blueprints.undeclaredDependencies ?? []).filter(({ blueprintID }) => blueprintID === id)
      expect(isSorted(told.map(({ role }) => role))).toBe(true)
      for (const role of references.roles) {
        const parent = role.split(".").slice(0, 2).join(".")
        const provided =
          given.roles.some(({ name, directory }) => name === role || directory === `ansible/roles/${role}`) ||
          requirements.roles.some(({ name }) => name === role) ||
          requirements.subscriptionRoles.includes(role) ||
          (role.split(".").length > 2 &&
            (given.collections.some(({ name }) => name === parent) ||
              requirements.collections.some(
                ({ name }) => name === parent || (/^[a-z0-9_.]*$/u.test(parent) && name === `https://h/${parent}.git`),
              )))
        expect(told.some((one) => one.role === role)).toBe(!provided)
      }
    }
  })
})

test("selecting again adds nothing, and a selected blueprint brings what it needs from its source", () => {
  law((given, present, known) => {
    const wanted = { blueprints: given.blueprints.slice(0, 2).map(({ id }) => id) }
    const once = Result.getOrThrow(expandSelection(given, wanted))
    expect(Result.getOrThrow(expandSelection(given, once))).toEqual(once)
    const { blueprints, templates, localCollections } = catalogOf({ source, content: given }, present, known)
    for (const entry of blueprints.items.filter(({ id }) => wanted.blueprints.includes(id))) {
      const shipped = (items: ReadonlyArray<CatalogItem>, named: ReadonlyArray<string> = []) =>
        named.filter((name) => items.some((item) => item.name === name))
      expect(once.templates).toEqual(expect.arrayContaining(shipped(templates, entry.requiredTemplates)))
      expect(once.localRoles).toEqual(expect.arrayContaining([...(entry.requiredLocalRoles ?? [])]))
      expect(once.localCollections).toEqual(expect.arrayContaining(shipped(localCollections, entry.requiredCollections)))
    }
  })
})
