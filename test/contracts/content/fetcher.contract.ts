import { treeBytes } from "@rangewright/domain"
import type {
  Archives,
  ContentFault,
  ContentFetcher,
  ContentLocation,
  ContentProgress,
  Snapshot,
  SnapshotId,
} from "@rangewright/ports"
import { Archives as ArchivesPort, ContentFetcher as Port } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { describe, expect, test } from "vitest"
import type { Files } from "./support/repository.ts"

/** What a fetcher is tested on: places to fetch from, made of plain files. */
export interface ContentWorld {
  readonly run: <A, E>(effect: Effect.Effect<A, E, ContentFetcher | Archives>) => Promise<A>
  /** A repository with the branch main; `commit` adds to it, `tag` names its newest commit. */
  readonly repository: (
    name: string,
    files: Files,
  ) => Promise<{
    readonly url: string
    readonly commit: (files: Files) => Promise<string>
    readonly tag: (name: string) => Promise<void>
  }>
  readonly archive: (name: string, files: Files) => Promise<ContentLocation>
  readonly folder: (files: Files) => Promise<ContentLocation>
}

export interface FetcherUnderTest {
  readonly name: string
  readonly make: () => ContentWorld
}

const fetched = (location: ContentLocation, holder = "source:a") => Port.use((port) => port.fetch({ location, holder }))
const git = (url: string, ref?: string): ContentLocation => ({ type: "git", url, ...(ref === undefined ? {} : { ref }) })
const textOf = (id: SnapshotId, path: string) =>
  Port.use((port) => Effect.map(port.read(id, path), (bytes) => new TextDecoder().decode(bytes)))
const paths = ({ files }: Snapshot) => files.map(({ path }) => path)

/** The tests that every fetcher of content passes. */
export const fetcherContract = ({ name, make }: FetcherUnderTest): void => {
  const faultOf = (world: ContentWorld, location: ContentLocation): Promise<ContentFault> =>
    world.run(Effect.flip(fetched(location)))

  describe(`${name}: fetching`, () => {
    test("the default branch, a branch, a tag and a commit give the files of that commit", async () => {
      const world = make()
      const { url, commit, tag } = await world.repository("labs", { "b/x": "1", a: "1", l: { link: "b/x" } })
      await tag("v1")
      const second = await commit({ a: "2" })
      const old = await world.run(fetched(git(url, "v1")))
      expect(paths(old)).toEqual(["a", "b/x", "l"])
      expect(await world.run(textOf(old.id, "l"))).toBe("1")
      for (const ref of [undefined, "", "HEAD", "main", "refs/heads/main", second]) {
        const snapshot = await world.run(fetched(git(url, ref)))
        expect(snapshot.id).toBe(second)
        expect(await world.run(textOf(snapshot.id, "a"))).toBe("2")
      }
      expect(await world.run(textOf(old.id, "a"))).toBe("1")
    })

    test("an archive and a folder of the same files are the same snapshot", async () => {
      const world = make()
      const files = { a: "1", "d/run": { program: "#!/bin/sh\n" } }
      const [one, other] = [await world.archive("x.tar", files), await world.folder(files)]
      const { id } = await world.run(fetched(one))
      expect(id).toMatch(/^sha256-[0-9a-f]{64}$/u)
      expect((await world.run(fetched(other))).id).toBe(id)
      expect((await world.run(fetched(await world.archive("x.tar", { ...files, a: "2" })))).id).not.toBe(id)
    })

    test("the caller is told the progress, to the last file", async () => {
      const world = make()
      const { url } = await world.repository("labs", { a: "1", b: "2" })
      for (const location of [
        git(url),
        await world.archive("x.tar", { a: "1", b: "2" }),
        await world.folder({ a: "1", c: "2" }),
      ]) {
        const told: ContentProgress[] = []
        const progress = (event: ContentProgress) => Effect.sync(() => void told.push(event))
        await world.run(Port.use((port) => port.fetch({ location, holder: "source:a", progress })))
        expect(told.at(-1)).toMatchObject({ phase: "writing", done: 2 })
      }
    })

    test("the wrapping folder of an archive is removed on request, unless it is part of the layout", async () => {
      const world = make()
      const location = await world.archive("x.tar", { "top/a": "1", "top/b/c": "2" })
      if (location.type !== "archive") throw new Error("not an archive")
      const pathsWith = async (unwrap: { keep: readonly string[] }) => paths(await world.run(fetched({ ...location, unwrap })))
      expect(paths(await world.run(fetched(location)))).toEqual(["top/a", "top/b/c"])
      expect(await pathsWith({ keep: ["other"] })).toEqual(["a", "b/c"])
      expect(await pathsWith({ keep: ["top"] })).toEqual(["top/a", "top/b/c"])
    })

    test.each([
      ["a URL that is an option", git("--upload-pack=x"), "refused"],
      ["a URL that runs a program", git("ext::x"), "refused"],
      ["a URL with credentials", git("https://me:s3cret@git.example/x"), "refused"],
      ["a format nobody knows", { type: "archive", file: "/nonexistent/x", name: "x.rar" } as const, "not-found|refused"],
      ["an archive that is not there", { type: "archive", file: "/nonexistent/x", name: "x.tar" } as const, "not-found"],
      ["a folder that is not allowed", { type: "folder", path: "/nonexistent" } as const, "refused"],
    ])("%s is a fault", async (_, location, reason) => {
      const fault = await faultOf(make(), location)
      expect(fault._tag).toBe("ContentFault")
      expect(fault.facts.reason).toMatch(new RegExp(`^(?:${reason})$`, "u"))
      expect(fault.message).not.toContain("s3cret")
    })

    test("a ref that is an option is refused; a missing one is not found", async () => {
      const world = make()
      const { url } = await world.repository("labs", { a: "1" })
      expect((await faultOf(world, git(url, "--upload-pack=x"))).facts).toMatchObject({ reason: "refused", rule: "ref" })
      for (const ref of ["nowhere", "1".repeat(40)])
        expect((await faultOf(world, git(url, ref))).facts).toMatchObject({ reason: "not-found", rule: "ref" })
    })

    test("duplicate names and links out of the tree are refused, wherever they come from", async () => {
      const world = make()
      for (const [files, rule] of [
        [{ A: "1", a: "2" }, "twin"],
        [{ l: { link: "../x" } }, "link"],
      ] as const) {
        const { url } = await world.repository(rule, files)
        for (const location of [git(url), await world.archive("x.tar", files), await world.folder(files)])
          expect((await faultOf(world, location)).facts).toMatchObject({ reason: "refused", rule })
      }
    })
  })

  describe(`${name}: snapshots`, () => {
    test("a file is read whole or not at all", async () => {
      const world = make()
      const { id } = await world.run(fetched(await world.folder({ a: "12345", "d/x": "1" })))
      const read = (path: string, most?: number) => world.run(Effect.flip(Port.use((port) => port.read(id, path, most))))
      expect((await read("a", 4)).facts.reason).toBe("too-large")
      for (const path of ["none", "d", "", "../a", "d/../../a", "/etc/passwd"])
        expect((await read(path)).facts.reason).toBe("not-found")
    })

    test("the disk usage of a snapshot includes its folders and links", async () => {
      const world = make()
      const files: Files = { a: "x".repeat(100_000), "d/e/f": "1", l: { link: "a" } }
      const { url } = await world.repository("labs", files)
      for (const location of [git(url), await world.archive("x.tar", files), await world.folder(files)]) {
        const snapshot = await world.run(fetched(location))
        const size = await world.run(Port.use((port) => port.size(snapshot.id)))
        expect(size).toBe(treeBytes(snapshot.files))
        expect(size).toBeGreaterThan(100_000 + 5 * 4096)
      }
    })

    test("an unknown snapshot is not found, and cannot be pinned", async () => {
      const world = make()
      for (const id of ["1".repeat(40), "sha256-x", "../snapshots", ""] as SnapshotId[]) {
        expect((await world.run(Effect.flip(Port.use((port) => port.open(id))))).facts.reason).toBe("not-found")
        expect((await world.run(Effect.flip(Port.use((port) => port.size(id))))).facts.rule).toBe("snapshot")
        expect((await world.run(Effect.flip(Port.use((port) => port.pin(id, "x"))))).facts.reason).toBe("not-found")
      }
    })

    test("pinned content stays; unpinned content is pruned", async () => {
      const world = make()
      const { url, commit } = await world.repository("labs", { a: "1" })
      const first = await world.run(fetched(git(url)))
      await commit({ a: "2" })
      const second = await world.run(fetched(git(url)))
      const pinned = (holder: string) => world.run(Port.use((port) => port.pinned(holder)))
      expect([...(await pinned("source:a"))].toSorted()).toEqual([first.id, second.id].toSorted())
      await world.run(Port.use((port) => Effect.andThen(port.pin(first.id, "install:b"), port.pin(first.id, "install:b"))))
      for (const { id } of [first, second]) await world.run(Port.use((port) => port.release(id, "source:a")))
      expect(await world.run(Port.use((port) => port.prune))).toEqual([second.id])
      expect(await world.run(textOf(first.id, "a"))).toBe("1")
      expect((await world.run(Effect.flip(textOf(second.id, "a")))).facts.reason).toBe("not-found")
      expect(await pinned("install:b")).toEqual([first.id])
      // pruned content comes back with the next fetch
      expect((await world.run(fetched(git(url)))).id).toBe(second.id)
      await world.run(Port.use((port) => Effect.andThen(port.release(first.id, "install:b"), port.release(first.id, "nobody"))))
      expect(await world.run(Port.use((port) => port.prune))).toEqual([first.id])
    })
  })

  describe(`${name}: packing`, () => {
    test("the same files give the same bytes in any order; a path that climbs is refused", async () => {
      const world = make()
      const pack = (list: readonly string[]) =>
        ArchivesPort.use((port) =>
          Stream.runCollect(port.pack(list.map((path) => ({ path, content: new TextEncoder().encode(path) })))),
        )
      const bytes = async (list: readonly string[]) => Buffer.concat([...(await world.run(pack(list)))])
      const once = await bytes(["a", "b/c"])
      expect([...once.subarray(0, 2)]).toEqual([0x1f, 0x8b])
      expect((await bytes(["b/c", "a"])).equals(once)).toBe(true)
      expect((await bytes(["b/c", "x"])).equals(once)).toBe(false)
      expect((await world.run(Effect.flip(pack(["../x"])))).facts).toMatchObject({ reason: "refused", rule: "path" })
    })
  })
}
