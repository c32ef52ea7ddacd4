import { type RecordId, type TemplateSystem, treeBytes, type UserId } from "@rangewright/domain"
import {
  ArtifactLibrary,
  type ArtifactRef,
  ContentFault,
  type LibraryFault,
  type LibraryScope,
  type PlaceOptions,
} from "@rangewright/ports"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import { describe, expect, test } from "vitest"
import { aCollection, aRole, aTemplate, contentsOf, entriesOf, type Files } from "./entries.ts"

/** What a library is tested on. */
export interface LibraryWorld {
  readonly run: <A, E>(effect: Effect.Effect<A, E, ArtifactLibrary>) => Promise<A>
}

export interface LibraryUnderTest {
  readonly name: string
  readonly make: () => LibraryWorld
}

const user = (id: string): LibraryScope => ({ type: "user", userId: id as UserId })
const [jd, global] = [user("JD"), { type: "global" } as const]
const role = (name: string, scope: LibraryScope = jd): ArtifactRef => ({ scope, kind: "role", name })
const collection = (name: string, scope: LibraryScope = jd): ArtifactRef => ({ scope, kind: "collection", name })
const template = (name: string, scope: LibraryScope = jd): ArtifactRef => ({ scope, kind: "template", name })

const library = ArtifactLibrary
const removeUser = <E = never>(id: string, record: string, last: Effect.Effect<void, E> = Effect.void) =>
  library.use((port) => port.removeUser({ id: id as UserId, recordId: record as RecordId }, last))
const ofRecord = (id: string, record: string): LibraryScope => ({
  type: "user",
  userId: id as UserId,
  recordId: record as RecordId,
})
const place = (artifact: ArtifactRef, files: Files, options: Partial<PlaceOptions> = {}) =>
  library.use((port) => port.place(artifact, entriesOf(files), { replace: false, ...options }))
const list = (scope: LibraryScope) => library.use((port) => port.list(scope))
const filesOf = (artifact: ArtifactRef) => library.use((port) => port.files(artifact))
const remove = (artifact: ArtifactRef) => library.use((port) => port.remove(artifact))
const transfer = (artifact: ArtifactRef, to: LibraryScope, mode: "copy" | "move") =>
  library.use((port) => port.transfer(artifact, to, mode))

/** The tests that every library of installed artifacts passes. */
export const libraryContract = ({ name, make }: LibraryUnderTest): void => {
  const faultOf = (world: LibraryWorld, effect: Effect.Effect<unknown, LibraryFault | ContentFault, ArtifactLibrary>) =>
    world.run(Effect.flip(effect))
  const contents = async (world: LibraryWorld, artifact: ArtifactRef) => contentsOf((await world.run(filesOf(artifact))) ?? [])

  describe(`${name}: installing`, () => {
    test("an empty library has nothing in any scope", async () => {
      const world = make()
      for (const scope of [jd, global])
        expect(await world.run(list(scope))).toEqual({ templates: [], roles: [], collections: [] })
      expect(await world.run(filesOf(role("web")))).toBeUndefined()
      expect(await world.run(remove(role("web")))).toBe(false)
    })

    test("files, executables and internal links come out as they went in", async () => {
      const world = make()
      expect(await world.run(place(role("acme.web"), aRole, { version: "1.10" }))).toBe("placed")
      const { "meta/.galaxy_install_info": receipt, ...own } = await contents(world, role("acme.web"))
      expect(own).toEqual(aRole)
      expect(receipt).toMatch(/^version: "1.10"$/mu)
      expect((await world.run(filesOf(role("acme.web"))))?.map(({ path }) => path)).toEqual([
        "files/run.sh",
        "meta/.galaxy_install_info",
        "meta/main.yml",
        "tasks/main.yml",
        "templates/run",
      ])
    })

    test("facts about a template are listed from a note that changes with the files, and is no part of them", async () => {
      const world = make()
      const saying = (system: TemplateSystem, description: string, picture?: string) => {
        const told = { system, description, ...(picture === undefined ? {} : { picture }) }
        return [{ "a.pkr.hcl": `# ${description}\n` }, { template: told }] as const
      }
      const shown = async (scope: LibraryScope) =>
        (await world.run(list(scope))).templates.map(({ name, system, description, picture }) => [
          name,
          system,
          description,
          picture,
        ])
      await world.run(place(template("a"), ...saying("windows", "Small", "a.png")))
      await world.run(place(template("a", global), ...saying("linux", "Shipped")))
      expect(await shown(jd)).toEqual([["a", "windows", "Small", "a.png"]])
      expect(await shown(global)).toEqual([["a", "linux", "Shipped", undefined]])
      expect(await world.run(place(template("a"), ...saying("windows", "Small")))).toBe("kept")
      const [files, { template: told }] = saying("linux", "Large")
      expect(await world.run(place(template("a"), files, { template: told }))).toBe("differs")
      expect(await world.run(place(template("a"), files, { template: told, replace: true }))).toBe("replaced")
      expect(await shown(jd)).toEqual([["a", "linux", "Large", undefined]])
    })

    test("each scope has its own copies, listed by name with their versions", async () => {
      const world = make()
      await world.run(place(role("b"), aRole, { version: "1.0" }))
      await world.run(place(role("a"), aRole))
      await world.run(place(role("a", global), aRole, { version: "v2" }))
      await world.run(place(collection("acme.util"), aCollection("acme.util", "3.1.4")))
      await world.run(place(template("debian-12"), aTemplate))
      expect(await world.run(list(jd))).toEqual({
        templates: [{ name: "debian-12", system: undefined, description: undefined }],
        roles: [
          { name: "a", scope: "user" },
          { name: "b", scope: "user", version: "1.0" },
        ],
        collections: [{ name: "acme.util", scope: "user", version: "3.1.4" }],
      })
      expect(await world.run(list(global))).toEqual({
        templates: [],
        roles: [{ name: "a", scope: "global", version: "v2" }],
        collections: [],
      })
      expect(await world.run(list(user("OTHER")))).toEqual({ templates: [], roles: [], collections: [] })
    })

    test("the version of a role is the given one, else the author's, else the receipt's", async () => {
      const world = make()
      const receipt = { "meta/.galaxy_install_info": "install_date: x\nversion: 0.9.0\n" }
      const author = { "meta/version.yml": "version: 2.0\n" }
      await world.run(place(role("given"), { ...aRole, ...receipt, ...author }, { version: "3.0" }))
      await world.run(place(role("author"), { ...aRole, ...receipt, ...author }))
      await world.run(place(role("receipt"), { ...aRole, ...receipt }))
      await world.run(place(role("unknown"), { ...aRole, "meta/.galaxy_install_info": "install_date: x\nversion: null\n" }))
      const { roles } = await world.run(list(jd))
      expect(Object.fromEntries(roles.map((copy) => [copy.name, copy.version]))).toEqual({
        author: "2.0",
        given: "3.0",
        receipt: "0.9.0",
        unknown: undefined,
      })
    })

    test("a role without metadata gets some; metadata in the other file name count as metadata", async () => {
      const world = make()
      await world.run(place(role("bare"), { "tasks/main.yml": "[]\n" }))
      await world.run(place(role("other"), { "tasks/main.yml": "[]\n", "meta/main.yaml": "dependencies: []\n" }))
      expect(Object.keys(await contents(world, role("bare")))).toContain("meta/main.yml")
      expect(Object.keys(await contents(world, role("other")))).not.toContain("meta/main.yml")
      expect((await world.run(list(jd))).roles.map((copy) => copy.name)).toEqual(["bare", "other"])
    })

    test("a collection that was not built gets a manifest; a built one keeps its own", async () => {
      const world = make()
      await world.run(place(collection("acme.source"), aCollection("acme.source", "1.2.3"), { description: "Tools" }))
      const manifest = JSON.stringify({ collection_info: { namespace: "acme", name: "built", version: "4.5.6" }, format: 1 })
      await world.run(place(collection("acme.built"), { "MANIFEST.json": manifest }))
      const written: unknown = JSON.parse(String((await contents(world, collection("acme.source")))["MANIFEST.json"]))
      expect(written).toEqual({
        collection_info: { namespace: "acme", name: "source", version: "1.2.3", description: "Tools" },
        format: 1,
      })
      expect(await contents(world, collection("acme.built"))).toEqual({ "MANIFEST.json": manifest })
      expect((await world.run(list(jd))).collections.map((copy) => copy.version)).toEqual(["4.5.6", "1.2.3"])
    })
  })

  describe(`${name}: installing again`, () => {
    test("an identical copy is kept; a different one stays unless it is to be replaced", async () => {
      const world = make()
      const changed: Files = { ...aRole, "tasks/main.yml": "[]\n" }
      await world.run(place(role("web"), aRole, { version: "1" }))
      expect(await world.run(place(role("web"), aRole, { version: "1" }))).toBe("kept")
      expect(await world.run(place(role("web"), aRole, { replace: true }))).toBe("kept")
      expect(await world.run(place(role("web"), changed, { version: "2" }))).toBe("differs")
      expect(await contents(world, role("web"))).toMatchObject(aRole)
      expect((await world.run(list(jd))).roles[0]?.version).toBe("1")
      const { "files/run.sh": _, ...fewer } = changed
      expect(await world.run(place(role("web"), fewer, { version: "2", replace: true }))).toBe("replaced")
      const { "meta/.galaxy_install_info": __, ...now } = await contents(world, role("web"))
      expect(now).toEqual(fewer)
      expect((await world.run(list(jd))).roles[0]?.version).toBe("2")
    })

    test.each([
      ["another mode", { "files/run.sh": "#!/bin/sh\n" }],
      ["another target of a link", { "templates/run": { link: "../files/other" } }],
      ["a file in place of a link", { "templates/run": "../files/run.sh" }],
      ["one more file", { "files/more": "" }],
    ])("%s is a difference", async (_, change: Files) => {
      const world = make()
      await world.run(place(role("web"), aRole))
      expect(await world.run(place(role("web"), { ...aRole, ...change }))).toBe("differs")
    })

    test("a receipt alone is no difference, and is corrected", async () => {
      const world = make()
      await world.run(place(role("web"), aRole))
      await world.run(place(collection("acme.util"), aCollection("acme.util"), { version: "1.0.0" }))
      expect(await world.run(place(role("web"), aRole, { version: "1.4" }))).toBe("kept")
      expect(await world.run(place(role("web"), aRole))).toBe("kept")
      expect(await world.run(place(collection("acme.util"), aCollection("acme.util"), { version: "2.0.0" }))).toBe("kept")
      const { roles, collections } = await world.run(list(jd))
      expect([roles[0]?.version, collections[0]?.version]).toEqual(["1.4", "2.0.0"])
    })

    test("of two concurrent installations of one name, one succeeds and the other is told", async () => {
      const world = make()
      const placements = await world.run(
        Effect.all(
          ["a", "b", "c"].map((text) => place(role("web"), { ...aRole, "files/x": text })),
          { concurrency: "unbounded" },
        ),
      )
      expect(placements.toSorted()).toEqual(["differs", "differs", "placed"])
    })
  })

  describe(`${name}: disk usage`, () => {
    const sizes = async (world: LibraryWorld, scope: LibraryScope = jd): Promise<Record<string, number>> => {
      const found = await world.run(library.use((port) => port.sizes(scope)))
      return Object.fromEntries(found.map((one) => [`${one.kind} ${one.name}`, one.bytes]))
    }

    test("is reported for each item of a scope, with its folders and links, even in a process that did not write them", async () => {
      const world = make()
      expect(await sizes(world)).toEqual({})
      await world.run(place(role("web"), { ...aRole, "files/large": "x".repeat(100_000) }))
      await world.run(place(collection("acme.util"), aCollection("acme.util")))
      await world.run(place(template("debian-12"), aTemplate))
      await world.run(place(role("other", global), aRole))
      const found = await sizes(world)
      expect(Object.keys(found).toSorted()).toEqual(["collection acme.util", "role web", "template debian-12"])
      for (const artifact of [role("web"), collection("acme.util"), template("debian-12")])
        expect(found[`${artifact.kind} ${artifact.name}`]).toBe(treeBytes((await world.run(filesOf(artifact))) ?? []))
      expect(await sizes(world)).toEqual(found)
      expect(Object.keys(await sizes(world, global))).toEqual(["role other"])
    })

    test("follows replacing, moving and removing", async () => {
      const world = make()
      await world.run(place(role("web"), aRole))
      const { "role web": before = 0 } = await sizes(world)
      await world.run(place(role("web"), { ...aRole, "files/large": "x".repeat(100_000) }, { replace: true }))
      const { "role web": after = 0 } = await sizes(world)
      expect(after).toBeGreaterThan(before + 100_000)
      await world.run(transfer(role("web"), user("XY"), "move"))
      expect(await sizes(world)).toEqual({})
      expect(await sizes(world, user("XY"))).toEqual({ "role web": after })
      await world.run(remove(role("web", user("XY"))))
      expect(await sizes(world, user("XY"))).toEqual({})
      expect(
        (
          await faultOf(
            world,
            library.use((port) => port.sizes(user("../x"))),
          )
        ).facts.reason,
      ).toBe("name")
    })
  })

  describe(`${name}: removing and moving`, () => {
    test("a removed item is gone only from its scope", async () => {
      const world = make()
      for (const scope of [jd, global]) await world.run(place(collection("acme.util", scope), aCollection("acme.util")))
      expect(await world.run(remove(collection("acme.util")))).toBe(true)
      expect(await world.run(remove(collection("acme.util")))).toBe(false)
      expect((await world.run(list(jd))).collections).toEqual([])
      expect((await world.run(list(global))).collections).toHaveLength(1)
    })

    test("a copy leaves the original; a move does not", async () => {
      const world = make()
      await world.run(place(role("web"), aRole, { version: "1.0" }))
      await world.run(transfer(role("web"), global, "copy"))
      for (const scope of [jd, global]) {
        expect(await contents(world, role("web", scope))).toMatchObject(aRole)
        expect((await world.run(list(scope))).roles).toEqual([{ name: "web", scope: scope.type, version: "1.0" }])
      }
      await world.run(transfer(role("web"), user("B"), "move"))
      expect(await world.run(filesOf(role("web")))).toBeUndefined()
      expect((await world.run(list(user("B")))).roles).toEqual([{ name: "web", scope: "user", version: "1.0" }])
    })

    test("a missing item cannot move, and nothing takes the place of another", async () => {
      const world = make()
      expect(await faultOf(world, transfer(role("web"), global, "move"))).toMatchObject({
        _tag: "LibraryFault",
        kind: "not-found",
        facts: { reason: "missing" },
      })
      for (const scope of [jd, global]) await world.run(place(role("web", scope), aRole))
      for (const mode of ["copy", "move"] as const)
        expect(await faultOf(world, transfer(role("web"), global, mode))).toMatchObject({
          kind: "conflict",
          facts: { reason: "exists" },
        })
      expect(await world.run(filesOf(role("web")))).toBeDefined()
    })

    test("a user's items are removed with the user, and nobody else's", async () => {
      const world = make()
      for (const scope of [jd, user("JDX"), global]) await world.run(place(role("web", scope), aRole))
      await world.run(place(template("t"), aTemplate))
      await world.run(removeUser("JD", "jd1"))
      await world.run(removeUser("NOBODY", "nobody1"))
      expect(await world.run(list(jd))).toEqual({ templates: [], roles: [], collections: [] })
      for (const scope of [user("JDX"), global]) expect((await world.run(list(scope))).roles).toHaveLength(1)
    })

    test("an installation begun for a removed user does not go to the next user with that id", async () => {
      const world = make()
      await world.run(place(role("web", global), aRole))
      await world.run(place(role("web", ofRecord("JD", "jd1")), aRole))
      // one library, as in a service: what it is told here lasts as long as its process
      await world.run(
        Effect.gen(function* () {
          yield* removeUser("JD", "jd1")
          const late = [
            place(role("db", ofRecord("JD", "jd1")), aRole),
            transfer(role("web", global), ofRecord("JD", "jd1"), "copy"),
          ]
          for (const attempt of late)
            expect(yield* Effect.flip(attempt)).toMatchObject({ kind: "not-found", facts: { reason: "missing" } })
          expect(yield* list(jd)).toEqual({ templates: [], roles: [], collections: [] })
          expect(yield* place(role("db", ofRecord("JD", "jd2")), aRole)).toBe("placed")
        }),
      )
    })

    test("a user whose removal failed may have items again", async () => {
      const world = make()
      const fails = removeUser("JD", "jd1", Effect.fail("the store is unreachable"))
      await world.run(
        Effect.gen(function* () {
          yield* place(role("web", ofRecord("JD", "jd1")), aRole)
          expect(yield* Effect.flip(fails)).toBe("the store is unreachable")
          expect((yield* list(jd)).roles).toEqual([])
          expect(yield* place(role("web", ofRecord("JD", "jd1")), aRole)).toBe("placed")
        }),
      )
    })

    test("nothing is installed between the removal of a user's items and the user's final removal", async () => {
      const world = make()
      const order: string[] = []
      await world.run(
        Effect.gen(function* () {
          const begun = yield* Deferred.make<void>()
          const last = Effect.andThen(
            Deferred.succeed(begun, undefined),
            Effect.sync(() => void order.push("last")),
          )
          const late = Effect.andThen(Deferred.await(begun), Effect.flip(place(role("web", ofRecord("JD", "jd1")), aRole))).pipe(
            Effect.tap(() => Effect.sync(() => void order.push("refused"))),
          )
          yield* Effect.all([removeUser("JD", "jd1", last), late], { concurrency: 2 })
        }),
      )
      expect(order).toEqual(["last", "refused"])
    })
  })

  describe(`${name}: hostile input`, () => {
    const hostile = ["", ".", "..", "../x", "a/b", "/etc", "a\0b", "-rf", ".hidden", "a b", "x".repeat(256), "a\nb", "ä"]
    test.each(hostile)("a role, template or collection called %j is refused wherever it is named", async (text) => {
      const world = make()
      const refs = [
        role(text),
        template(text),
        collection(text),
        collection(`acme.${text}`),
        collection(`${text}.util`),
        role("web", user(text)),
      ]
      for (const ref of refs) {
        const given = { role: aRole, template: aTemplate, collection: aCollection("acme.util") }[ref.kind]
        const tries = [place(ref, given), remove(ref), filesOf(ref), transfer(ref, global, "copy")]
        for (const attempt of tries)
          expect(await faultOf(world, attempt)).toMatchObject({ kind: "invalid", facts: { reason: "name" } })
      }
    })

    test.each(["", "..", "a/b", "a\0b", "1x"])("a user called %j is refused", async (text) => {
      const world = make()
      for (const attempt of [list(user(text)), removeUser(text, "x1")])
        expect(await faultOf(world, attempt)).toMatchObject({ kind: "invalid", facts: { reason: "name" } })
    })

    test.each<[string, Files]>([
      ["a path that climbs", { "tasks/../../x": "" }],
      ["an absolute path", { "/tasks/main.yml": "" }],
      ["a link that leads out", { "files/x": { link: "../../../etc/passwd" } }],
      ["an absolute link", { "files/x": { link: "/etc/passwd" } }],
      ["a link that leads out through another", { "files/a": { link: ".." }, "files/b": { link: "a/../.." } }],
      ["a file below a link", { "tasks/d": { link: "../files" }, "tasks/d/x": "" }],
      ["a .git folder", { "files/.git/config": "" }],
      ["twins", { "files/A": "", "files/a": "" }],
      ["a path with a NUL", { "files/a\0b": "" }],
    ])("%s is refused, and nothing is installed", async (_, files) => {
      const world = make()
      const fault = await faultOf(world, place(role("web"), { ...aRole, ...files }))
      expect(fault).toMatchObject({ _tag: "LibraryFault", kind: "invalid", facts: { reason: "broken" } })
      expect(await world.run(filesOf(role("web")))).toBeUndefined()
    })

    test.each<[string, ArtifactRef, Files]>([
      ["a role without any of a role's folders", role("web"), { "README.md": "" }],
      ["a template without a builder file", template("t"), { "x.txt": "" }],
      ["a template with two", template("t"), { "a.pkr.hcl": "", "b.pkr.json": "" }],
      ["a collection without metadata", collection("acme.util"), { "plugins/x.py": "" }],
      ["a collection with a false name", collection("acme.util"), aCollection("acme.other")],
      ["a collection whose manifest is none", collection("acme.util"), { "MANIFEST.json": "[]" }],
      ["a collection whose metadata lead elsewhere", collection("acme.util"), { "galaxy.yml": "namespace: ../x\nname: util\n" }],
    ])("%s is refused", async (_, ref, files) => {
      const world = make()
      expect(await faultOf(world, place(ref, files))).toMatchObject({ kind: "invalid", facts: { reason: "broken" } })
      expect(await world.run(list(jd))).toEqual({ templates: [], roles: [], collections: [] })
    })

    test("a file that cannot be read leaves the present copy", async () => {
      const world = make()
      await world.run(place(role("web"), aRole))
      const lost = new ContentFault({ doing: "read x", reason: "broken", detail: "lost" })
      const entries = [
        ...entriesOf({ ...aRole, "tasks/main.yml": "[]\n" }),
        { kind: "file", path: "files/z", size: 1, executable: false, read: Effect.fail(lost) } as const,
      ]
      const fault = await faultOf(
        world,
        library.use((port) => port.place(role("web"), entries, { replace: true })),
      )
      expect(fault).toBe(lost)
      expect(await contents(world, role("web"))).toMatchObject(aRole)
    })

    test("names of built-in object properties are names like any other", async () => {
      const world = make()
      for (const text of ["constructor", "__proto__"]) await world.run(place(role(text), { ...aRole, "files/__proto__": "x" }))
      expect((await world.run(list(jd))).roles.map((copy) => copy.name)).toEqual(["__proto__", "constructor"])
    })
  })
}
