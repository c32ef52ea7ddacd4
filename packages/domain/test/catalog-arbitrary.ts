/** Sources and installations of few names, so that things meet. */
import fc from "fast-check"
import type { BlueprintRow, Installed } from "../src/catalog/index.ts"
import type { SourceContent } from "../src/source/index.ts"

/** Few names, so that things meet; some that would change an object if they were keys of one. */
const word = fc.constantFrom("a", "b", "c", "d", "constructor", "__proto__", "toString")
const roleName = fc.oneof(
  word,
  fc.tuple(word, word).map((parts) => parts.join(".")),
  fc.tuple(word, word, word).map((parts) => parts.join(".")),
)
const version = fc.constantFrom("1.0.0", "1.0", "2.0.0", ">=1.5", "main", "*", "")
const text = fc.option(version, { nil: undefined })
const optional = <A extends object>(model: { readonly [K in keyof A]: fc.Arbitrary<A[K]> }) =>
  fc.record(model, { requiredKeys: [] })
const unique = <A>(items: fc.Arbitrary<A>, by: (item: A) => string) => fc.uniqueArray(items, { selector: by, maxLength: 8 })

const shippedBlueprint = fc.record({
  id: fc.oneof(
    word,
    fc.tuple(word, word).map((parts) => parts.join("/")),
  ),
  name: word,
  version,
  tags: fc.constant([]),
  config: fc.constant({ path: "c.yml", text: "" }),
  references: fc.record({ templates: fc.array(word, { maxLength: 4 }), roles: fc.array(roleName, { maxLength: 6 }) }),
  requirements: fc.record({
    roles: fc.array(optional<{ name: string; version: string }>({ name: roleName, version }), { maxLength: 4 }),
    collections: fc.array(
      optional<{ name: string; version: string; type: string }>({
        name: fc.oneof(
          roleName,
          roleName.map((name) => `https://h/${name}.git`),
        ),
        version,
        type: fc.constantFrom("git", "galaxy"),
      }),
      { maxLength: 4 },
    ),
    subscriptionRoles: fc.array(roleName, { maxLength: 3 }),
  }),
})
const artifact = (kind: string, name: fc.Arbitrary<string>) =>
  unique(fc.record({ name, directory: word.map((directory) => `${kind}/${directory}`) }), ({ name: own }) => own)
export const content: fc.Arbitrary<SourceContent> = fc.record({
  manifest: fc.constant({ authors: [] }),
  blueprints: unique(shippedBlueprint, ({ id }) => id),
  templates: artifact("templates", word),
  roles: artifact("ansible/roles", roleName),
  collections: artifact(
    "ansible/collections",
    fc.tuple(word, word).map((parts) => parts.join(".")),
  ),
  broken: fc.constant([]),
})
const copies = unique(
  fc
    .record({ name: roleName, scope: fc.constantFrom("global" as const, "user" as const), version: text })
    .map(({ version: known, ...copy }) => (known === undefined ? copy : { ...copy, version: known })),
  ({ name, scope }) => `${scope} ${name}`,
)
export const installed: fc.Arbitrary<Installed> = fc.record({ templates: fc.array(word), roles: copies, collections: copies })
export const rows: fc.Arbitrary<ReadonlyArray<BlueprintRow>> = unique(
  fc.record({ sourceBlueprintID: word, version }),
  ({ sourceBlueprintID }) => sourceBlueprintID,
)
