import {
  type Blueprint,
  blueprintAccess,
  blueprintReaders,
  blueprintTextIssues,
  copyIdOf,
  type GroupMember,
  type GroupName,
  idOfSourceBlueprint,
  installationOf,
  isAnyBlueprintId,
  isBlueprintId,
  mayChangeBlueprint,
  neverInstalled,
  pictureName,
  pictureTypeOf,
  type RecordId,
  type UserId,
} from "@rangewright/domain"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const red = "red" as GroupName
const blueprint: Blueprint = {
  id: "web/basic" as Blueprint["id"],
  recordId: "blueprint000000" as RecordId,
  owner: "Ada" as UserId,
  name: "Web",
  description: "",
  version: "1.0.0",
  tags: [],
  minVersion: "",
  thumbnail: undefined,
  origin: undefined,
  bundle: undefined,
  installation: neverInstalled,
  sharedUsers: ["Bob" as UserId],
  sharedGroups: [red],
  createdAt: new Date(0),
  updatedAt: new Date(0),
}
const access = (id: string, { isAdmin = false, groups = [] as readonly GroupName[], of = blueprint } = {}) =>
  blueprintAccess(of, { id: id as UserId, isAdmin }, new Set(groups))

describe("an installation of what a blueprint requires", () => {
  it("is an error with one failure, and partly done with several", () => {
    const at = new Date(0)
    expect(installationOf([], at)).toEqual({ status: "ok", error: "", at })
    expect(installationOf(["role a: gone"], at)).toEqual({ status: "error", error: "role a: gone", at })
    expect(installationOf(["role a: gone", "role b: gone"], at)).toMatchObject({
      status: "partial",
      error: "role a: gone; role b: gone",
    })
    expect(installationOf(["x".repeat(9000)], at).error).toHaveLength(4000)
  })
})

describe("the id of a blueprint", () => {
  it("has up to three levels and cannot lead out of its folder", () => {
    for (const id of ["a", "Web", "web/basic", "web/basic/1", "a-_9"]) expect(isBlueprintId(id)).toBe(true)
    for (const id of [
      "",
      "1web",
      "-a",
      "a/",
      "/a",
      "a//b",
      "a/b/c/d",
      "../a",
      "a/..",
      "a b",
      "a\u0000",
      "é",
      "a\n",
      "a".repeat(256),
    ])
      expect(isBlueprintId(id)).toBe(false)
  })

  it("of one from a source has the source's id before it, in at most 255 characters", () => {
    expect(idOfSourceBlueprint("labs", "a/b/c")).toBe("labs/a/b/c")
    expect(idOfSourceBlueprint("labs", "a".repeat(250))).toHaveLength(255)
    expect(idOfSourceBlueprint("labs", "a".repeat(251))).toBeUndefined()
    for (const id of ["web", "labs/web", "labs/a/b/c"]) expect(isAnyBlueprintId(id)).toBe(true)
    for (const id of ["", "a/b/c/d/e", "labs/../a/b", "labs//a/b", "1/a/b/c", `${"a".repeat(250)}/a/b/c`])
      expect(isAnyBlueprintId(id)).toBe(false)
  })

  it("of a copy is an allowed one that is free, whatever the original is called", () => {
    expect(copyIdOf("web/basic", new Set())).toBe("web/basic-copy")
    expect(copyIdOf("web", new Set(["web-copy", "web-copy-2"]))).toBe("web-copy-3")
    expect(copyIdOf("src/a/b/c", new Set())).toBe("blueprint-copy")
    fc.assert(
      fc.property(fc.string(), fc.nat(20), (original, copies) => {
        const taken = new Set<string>()
        for (let n = 0; n < copies; n++) taken.add(copyIdOf(original, taken))
        const id = copyIdOf(original, taken)
        expect(taken.size).toBe(copies)
        expect(taken.has(id)).toBe(false)
        expect(isBlueprintId(id)).toBe(true)
      }),
    )
    expect(isBlueprintId(copyIdOf("a".repeat(255), new Set()))).toBe(true)
  })
})

describe("access to a blueprint", () => {
  it("is the first of: administrator, owner, shared directly, by a group; others have none", () => {
    expect(access("Ada", { isAdmin: true })).toBe("admin")
    expect(access("Ada", { groups: [red] })).toBe("owner")
    expect(access("Bob", { groups: [red] })).toBe("direct")
    expect(access("Cleo", { groups: [red] })).toBe("group")
    expect(access("Cleo", { groups: ["blue" as GroupName] })).toBeUndefined()
    expect(access("Ada", { of: { ...blueprint, owner: undefined } })).toBeUndefined()
  })

  it("lets only owners and administrators change it", () => {
    expect((["admin", "owner", "direct", "group", undefined] as const).filter(mayChangeBlueprint)).toEqual(["admin", "owner"])
  })

  it("lists every path by which a user can read it", () => {
    const member = (userId: string, role: GroupMember["role"]): GroupMember => ({ userId: userId as UserId, name: "", role })
    const members = new Map([[red, [member("Cleo", "member"), member("Bob", "manager"), member("Ada", "member")]]])
    expect(blueprintReaders(blueprint, members)).toEqual([
      { userId: "Ada", paths: ["group-member", "owner"], groups: ["red"] },
      { userId: "Bob", paths: ["direct", "group-manager"], groups: ["red"] },
      { userId: "Cleo", paths: ["group-member"], groups: ["red"] },
    ])
    expect(blueprintReaders({ ...blueprint, owner: undefined, sharedUsers: [], sharedGroups: [] }, members)).toEqual([])
  })

  it("matches the list of readers for everybody who is not an administrator", () => {
    const ids = ["Ada", "Bob", "Cleo", "Dan"] as UserId[]
    const names = ["red", "blue"] as GroupName[]
    const role = fc.constantFrom("member", "manager", undefined)
    fc.assert(
      fc.property(
        fc.option(fc.constantFrom(...ids), { nil: undefined }),
        fc.uniqueArray(fc.constantFrom(...ids)),
        fc.uniqueArray(fc.constantFrom(...names)),
        fc.array(fc.array(role, { minLength: 4, maxLength: 4 }), { minLength: 2, maxLength: 2 }),
        (owner, sharedUsers, sharedGroups, roles) => {
          const of = { ...blueprint, owner, sharedUsers, sharedGroups }
          const members = new Map(
            names.map((name, g) => [
              name,
              ids.flatMap((userId, u): GroupMember[] => {
                const held = roles[g]?.[u]
                return held === undefined ? [] : [{ userId, name: "", role: held }]
              }),
            ]),
          )
          const groupsOf = (id: UserId) => names.filter((name) => members.get(name)?.some(({ userId }) => userId === id))
          expect(blueprintReaders(of, members).map(({ userId }) => userId)).toEqual(
            ids.filter((id) => access(id, { groups: groupsOf(id), of }) !== undefined),
          )
        },
      ),
    )
  })
})

describe("a picture", () => {
  const bytes = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0))

  it("is known by its first bytes, and is nothing that a browser could run", () => {
    expect(pictureTypeOf(bytes("\u0089PNG\r\n\u001a\n..."))).toBe("image/png")
    expect(pictureTypeOf(bytes("\u00ff\u00d8\u00ff\u00e0"))).toBe("image/jpeg")
    expect(pictureTypeOf(bytes("GIF87a"))).toBe("image/gif")
    expect(pictureTypeOf(bytes("GIF89a"))).toBe("image/gif")
    expect(pictureTypeOf(bytes("RIFF....WEBPVP8 "))).toBe("image/webp")
    for (const other of ["", "GIF", "RIFF....WAVE", "<svg xmlns=", "<!doctype html>", "\u0089PNG", "%PDF-1.7"])
      expect(pictureTypeOf(bytes(other))).toBeUndefined()
  })

  it("has a name that is one harmless part of a path, with the ending of its kind", () => {
    expect(pictureName("My Web.jpeg", "r4nd0m", "image/png")).toBe("My_Web_r4nd0m.png")
    expect(pictureName(".png", "x", "image/webp")).toBe("picture_x.webp")
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (original) => {
        expect(pictureName(original, "r4nd0m", "image/jpeg")).toMatch(/^[A-Za-z0-9_-]{1,80}_r4nd0m\.jpg$/u)
      }),
    )
  })
})

describe("what a blueprint says of itself", () => {
  it("has limits, and every field that exceeds them is reported", () => {
    expect(blueprintTextIssues({})).toEqual([])
    expect(blueprintTextIssues({ ...blueprint, version: "anything", tags: ["a", "b"] })).toEqual([])
    const paths = blueprintTextIssues({
      name: " ",
      description: "x".repeat(5001),
      version: "x".repeat(256),
      minVersion: "x".repeat(256),
      tags: ["", "x".repeat(65), "fine"],
    }).map(({ path }) => path)
    expect(paths).toEqual(["name", "description", "version", "min_ludus_version", "tags[0]", "tags[1]"])
    expect(blueprintTextIssues({ tags: Array.from({ length: 101 }, () => "") })).toHaveLength(1)
  })

  it("contains no terminal control characters", () => {
    const steering = "\u001B]0;owned\u0007"
    const paths = blueprintTextIssues({
      name: steering,
      description: steering,
      version: steering,
      minVersion: steering,
      tags: [steering],
    }).map(({ path }) => path)
    expect(paths.toSorted()).toEqual(["description", "min_ludus_version", "name", "tags[0]", "version"])
    expect(blueprintTextIssues({ ...blueprint, description: "Two lines\n\tand more: é 漢 🙂" })).toEqual([])
  })
})
