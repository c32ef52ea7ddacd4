import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type BlueprintNeeds, type InstalledItem, planUninstall } from "../src/install/index.ts"

const needs = (
  id: string,
  named: Partial<BlueprintNeeds["references"]>,
  required: Partial<BlueprintNeeds["requirements"]> = {},
) => ({
  id,
  references: { templates: [], roles: [], ...named },
  requirements: { roles: [], collections: [], subscriptionRoles: [], ...required },
})
const item = (kind: InstalledItem["kind"], name: string, more: Partial<InstalledItem> = {}): InstalledItem => ({
  kind,
  name,
  otherSources: [],
  ...more,
})
const told = (items: ReadonlyArray<InstalledItem>, blueprints: ReadonlyArray<BlueprintNeeds>, force = false) =>
  planUninstall(items, blueprints, force).map(({ item: { name }, change, because = "nobody" }) => `${name} ${change}: ${because}`)

describe("an item stays", () => {
  test("where an installed blueprint's configuration names it, by its name or another one", () => {
    const web = needs("s/web", { templates: ["debian"], roles: ["hello", "ns.col.role"] })
    expect(
      told(
        [
          item("template", "debian"),
          item("template", "other"),
          item("local_role", "acme.hello", { aliases: ["hello"] }),
          item("local_collection", "ns.col"),
        ],
        [web],
      ),
    ).toEqual([
      "debian refuse: blueprint s/web needs it",
      "other remove: nobody",
      "acme.hello refuse: blueprint s/web needs it",
      "ns.col refuse: blueprint s/web needs it",
    ])
  })

  test("where an installed blueprint requires it, also by the URL of its repository", () => {
    const web = needs(
      "s/web",
      {},
      {
        roles: [{ name: "pub.docker" }],
        collections: [{ name: "https://git.example/x/pub.tools.git", type: "git" }],
        subscriptionRoles: ["sub"],
      },
    )
    const items = [item("role", "pub.docker"), item("collection", "pub.tools"), item("subscription_role", "sub")]
    expect(told(items, [web]).every((line) => line.includes("refuse: blueprint s/web needs it"))).toBe(true)
  })

  test("where another source provides it, too", () => {
    expect(told([item("role", "r", { otherSources: ["b", "a"] })], [])).toEqual([
      "r refuse: source a also provides it; source b also provides it",
    ])
  })
})

test("blueprints that go need nothing any more, and nothing needs a blueprint", () => {
  const web = needs("s/web", { roles: ["r"] })
  expect(told([item("local_role", "r"), item("blueprint", "s/web")], [web])).toEqual(["r remove: nobody", "s/web remove: nobody"])
})

test("force removes everything, and says the same of who needs it", () => {
  const kind = fc.constantFrom<InstalledItem["kind"]>(
    "blueprint",
    "template",
    "local_role",
    "local_collection",
    "role",
    "collection",
  )
  const name = fc.constantFrom("a", "b", "c", "a.b", "__proto__")
  const items = fc.array(fc.record({ kind, name, otherSources: fc.array(name, { maxLength: 2 }) }), { maxLength: 6 })
  const blueprints = fc.array(
    fc
      .record({ id: name, templates: fc.array(name), roles: fc.array(name) })
      .map(({ id, ...references }) => needs(id, references, { roles: references.roles.map((role) => ({ name: role })) })),
    { maxLength: 4 },
  )
  fc.assert(
    fc.property(items, blueprints, (given, there) => {
      const [kept, forced] = [planUninstall(given, there, false), planUninstall(given, there, true)]
      expect(forced.every(({ change }) => change === "remove")).toBe(true)
      expect(forced.map(({ because }) => because)).toEqual(kept.map(({ because }) => because))
      for (const { change, because } of kept) expect(change === "refuse").toBe(because !== undefined)
    }),
  )
})
