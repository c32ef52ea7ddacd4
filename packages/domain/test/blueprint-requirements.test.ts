import { type KnownRoles, readRequirements, requiredRoles, type Requirements, withRequirements } from "@rangewright/domain"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const known: KnownRoles = {
  subscription: new Set(["sub_role"]),
  roles: [
    { name: "pub.docker", scope: "user", version: "7.4.4" },
    { name: "pub.docker", scope: "global", version: "7.0.0" },
    { name: "local_a", scope: "global" },
    { name: "ns.col.own", scope: "user", version: "1.0.0" },
    { name: "sub_role", scope: "global" },
  ],
  collections: [{ name: "ns.col", scope: "user", version: "2.1.0" }],
}
const empty: Requirements = { roles: [], collections: [], subscriptionRoles: [] }
const read = (text: string | undefined): Requirements => {
  const { requirements, warnings } = readRequirements(text ?? "")
  expect(warnings).toEqual([])
  return requirements
}

describe("the roles of a configuration", () => {
  it("are required in the installed version, roles in a collection as the collection, subscription roles by name", () => {
    const names = ["pub.docker", "ns.col.a", "ns.col.b", "other.col.sub.role", "sub_role", "unknown", "ns.col.own"]
    expect(requiredRoles(names, known)).toEqual({
      requirements: {
        roles: [{ name: "ns.col.own", version: "1.0.0" }, { name: "pub.docker", version: "7.4.4" }, { name: "unknown" }],
        collections: [{ name: "ns.col", version: "2.1.0" }, { name: "other.col" }],
        subscriptionRoles: ["sub_role"],
      },
      custom: [],
    })
  })

  it("have no known origin if they are only on this disk, and are ignored if their names are invalid", () => {
    expect(requiredRoles(["local_a", "../x", "-f", "{{ role }}", ""], known)).toEqual({
      requirements: empty,
      custom: ["local_a"],
    })
  })
})

describe("a requirements file", () => {
  it("is made when there is something to require, and only then", () => {
    expect(withRequirements(undefined, empty)).toBeUndefined()
    expect(withRequirements(undefined, { ...empty, roles: [{ name: "a", version: "1.10" }], subscriptionRoles: ["s"] })).toBe(
      'roles:\n  - name: a\n    version: "1.10"\nsubscription_roles:\n  - name: s\n',
    )
  })

  it("gets more requirements without losing comments or other entries", () => {
    const text = "# ours\nroles:\n  - pub.docker # pinned elsewhere\ncollections: # none yet\nextra: 1\n"
    const wanted = {
      roles: [{ name: "pub.docker", version: "9" }, { name: "new" }],
      collections: [{ name: "a.b" }],
      subscriptionRoles: [],
    }
    const more = withRequirements(text, wanted) ?? ""
    expect(more).toContain("# ours\n")
    expect(more).toContain("- pub.docker # pinned elsewhere\n")
    expect(more).toContain("extra: 1")
    expect(read(more)).toEqual({
      roles: [{ name: "pub.docker" }, { name: "new" }],
      collections: [{ name: "a.b" }],
      subscriptionRoles: [],
    })
    expect(withRequirements(more, wanted)).toBe(more)
  })

  it("recognizes existing requirements by repository URL or by name", () => {
    const text = "roles: [{src: 'https://git.example/a'}]\ncollections: [{name: 'https://git.example/x/a.b.git', type: git}]\n"
    const wanted = { roles: [], collections: [{ name: "a.b" }], subscriptionRoles: [] }
    expect(withRequirements(text, wanted)).toBe(text)
  })

  it("stays as it is when it cannot be understood", () => {
    for (const text of ["- a list\n", "roles: x\n", "roles: [\n"])
      expect(withRequirements(text, { ...empty, roles: [{ name: "a" }] })).toBe(text)
  })

  it("contains each added requirement exactly once, whatever it contained before", () => {
    const name = fc.constantFrom("a", "b.c", "d", "true", "1", "null", "on")
    const names = fc.uniqueArray(name)
    const wanted = fc
      .record({ roles: names, subscriptionRoles: fc.uniqueArray(fc.constantFrom("s", "t")) })
      .map(({ roles, subscriptionRoles }): Requirements => ({
        roles: roles.map((role) => ({ name: role })),
        collections: [],
        subscriptionRoles,
      }))
    const before = fc.constantFrom(
      undefined,
      "",
      "# nothing",
      "---\n",
      "roles: []\n",
      "roles:\n",
      "collections: [a.b]\n",
      "{roles: [x]}",
    )
    fc.assert(
      fc.property(before, wanted, wanted, (text, first, second) => {
        const twice = read(withRequirements(withRequirements(text, first), second))
        const added = twice.roles.flatMap((role) => (role.name === "x" ? [] : [role.name]))
        expect(new Set(added)).toEqual(new Set([...first.roles, ...second.roles].map((role) => role.name)))
        expect(new Set(added).size).toBe(added.length)
        expect(new Set(twice.subscriptionRoles)).toEqual(new Set([...first.subscriptionRoles, ...second.subscriptionRoles]))
      }),
    )
  })
})
