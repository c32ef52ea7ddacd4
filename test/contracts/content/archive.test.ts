import { Archives, type ArchiveFile, ContentFetcher } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import fc from "fast-check"
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { describe, expect, test } from "vitest"
import { tar, type TarEntry, tarGz, zip } from "./support/archives.ts"
import { gitWorld, type GitWorld, textOf } from "./support/world.ts"

const upload = (world: GitWorld, name: string, bytes: Uint8Array) => {
  const file = join(world.root, "upload")
  writeFileSync(file, bytes)
  return { type: "archive", file, name } as const
}
const paths = (snapshot: { readonly files: readonly { readonly path: string }[] }) => snapshot.files.map(({ path }) => path)

describe("archives", () => {
  const honest: readonly TarEntry[] = [
    { name: "./", type: "5", mode: 0o2755 },
    { name: "./source.yml", content: "name: x\n" },
    { name: "./roles/a/run.sh", content: "#!/bin/sh\n", mode: 0o755 },
    { name: "./roles/a/l", type: "2", link: "run.sh" },
    { name: "./._source.yml", content: "fork" },
    { name: "./.git/config", content: "[core]\n" },
  ]

  test.each([
    ["a tar", "x.tar", () => tar(honest)],
    ["a gzipped tar", "X.TAR.GZ", () => tarGz(honest)],
    ["a gzipped tar by its short ending", "x.tgz", () => tarGz(honest)],
    [
      "a zip",
      "x.zip",
      () =>
        zip({
          "source.yml": { content: "name: x\n" },
          "roles/a/run.sh": { content: "#!/bin/sh\n", mode: 0o100755 },
          "roles/a/l": { content: "run.sh", mode: 0o120777 },
          "__MACOSX/x": { content: "" },
        }),
    ],
  ])("%s becomes files, without entries that packers add", async (_, name, bytes) => {
    const world = gitWorld()
    const snapshot = await world.fetch(upload(world, name, bytes()))
    expect(snapshot.files).toEqual([
      { kind: "link", path: "roles/a/l", target: "run.sh" },
      { kind: "file", path: "roles/a/run.sh", size: 10, executable: true },
      { kind: "file", path: "source.yml", size: 8, executable: false },
    ])
    expect(await world.run(textOf(snapshot, "roles/a/l"))).toBe("#!/bin/sh\n")
    world.expectClean()
  })

  test.each([
    ["a tar", "x.tar.gz", () => tar(honest)],
    ["a tar without an extension", "acme.web", () => tar(honest)],
    ["a gzipped tar", "x.tar", () => tarGz(honest)],
    ["a zip", "x.tgz", () => zip({ "source.yml": { content: "name: x\n" } })],
  ])("%s is recognized by its content on request, whatever its name", async (_, name, bytes) => {
    const world = gitWorld()
    const snapshot = await world.fetch({ ...upload(world, name, bytes()), byContent: true })
    expect(paths(snapshot)).toContain("source.yml")
    world.expectClean()
  })

  test.each([
    ["bzip2", Buffer.from("BZh91AY&SY")],
    ["xz", Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0])],
    ["zstd", Buffer.from([0x28, 0xb5, 0x2f, 0xfd])],
  ])("content that %s compressed is refused by its name", async (packer, start) => {
    const world = gitWorld()
    const bytes = Buffer.concat([start, Buffer.alloc(1024, 7)])
    const fault = await world.fault({ ...upload(world, "acme.web.tar.gz", bytes), byContent: true })
    expect(fault.message).toBe(`Cannot unpack acme.web.tar.gz: it is compressed with ${packer}`)
    expect(fault.hint).toBe("Send a tar, a gzipped tar or a zip.")
  })

  test("content that no packer made is no tar", async () => {
    const world = gitWorld()
    const fault = await world.fault({ ...upload(world, "acme.web", Buffer.from("hello")), byContent: true })
    expect(fault.message).toBe("Cannot unpack acme.web: it is not a tar, or is empty")
  })

  test("the disk usage of an older version's snapshot is computed from its list", async () => {
    const world = gitWorld()
    const { id } = await world.fetch(upload(world, "x.tar", tar(honest)))
    const size = ContentFetcher.use((port) => port.size(id))
    const recorded = join(world.folder, "snapshots", id, "size")
    expect(readFileSync(recorded, "utf8")).toBe(String(await world.run(size)))
    rmSync(recorded)
    expect(await world.run(size)).toBe(5 * 8192 + 18)
  })

  test("unused content is pruned before the next fetch when there is much of it", async () => {
    const world = gitWorld({ unprunedBytes: 100_000 })
    const fetchAndRelease = (content: string) =>
      ContentFetcher.use((port) =>
        Effect.gen(function* () {
          const location = upload(world, "x.tar", tar([{ name: "a", content }]))
          const { id } = yield* port.fetch({ location, holder: "upload" })
          yield* port.release(id, "upload")
        }),
      )
    const kept = () => readdirSync(join(world.folder, "snapshots")).length
    await world.run(
      Effect.gen(function* () {
        yield* fetchAndRelease("1")
        yield* fetchAndRelease("2")
        expect(kept()).toBe(2)
        yield* fetchAndRelease("x".repeat(100_000))
        yield* fetchAndRelease("3")
        expect(kept()).toBe(1)
      }),
    )
  })

  test("a snapshot stays while the disk cannot tell who needs it", async () => {
    const world = gitWorld()
    const { id } = await world.fetch(upload(world, "x.tar", tar([{ name: "a" }])))
    const [pins, prune] = [join(world.folder, "pins", id), ContentFetcher.use((port) => port.prune)]
    renameSync(pins, `${pins}.away`)
    // stands for any failure to read the folder, such as too many open files
    writeFileSync(pins, "")
    expect((await world.run(Effect.flip(prune))).facts.reason).toBe("unavailable")
    expect(readdirSync(join(world.folder, "snapshots"))).toEqual([id])
    rmSync(pins)
    expect(await world.run(prune)).toEqual([id])
  })

  test("the same content is the same snapshot, however it was packed; other content is another", async () => {
    const world = gitWorld()
    const ids = [
      await world.fetch(upload(world, "x.tar", tar([{ name: "a", content: "1" }, { name: "b" }]))),
      await world.fetch(upload(world, "x.tgz", tarGz([{ name: "b" }, { name: "a", content: "1" }]))),
      await world.fetch(upload(world, "x.zip", zip({ a: { content: "1" }, b: { content: "" } }))),
      await world.fetch(upload(world, "x.zip", zip({ a: { content: "1", mode: 0o100755 }, b: { content: "" } }))),
      await world.fetch(upload(world, "x.zip", zip({ a: { content: "2" }, b: { content: "" } }))),
    ].map(({ id }) => id)
    expect(new Set(ids.slice(0, 3)).size).toBe(1)
    expect(new Set(ids).size).toBe(3)
  })

  test.each([
    [
      ["top/source.yml", "top/blueprints/a"],
      ["blueprints/a", "source.yml"],
    ],
    [
      ["source.yml", "blueprints/a"],
      ["blueprints/a", "source.yml"],
    ],
    [["ansible/roles/r/x"], ["ansible/roles/r/x"]],
    [["one"], ["one"]],
  ])("of %j the wrapping folder is removed: %j", async (names, expected) => {
    const world = gitWorld()
    const location = { ...upload(world, "x.tgz", tarGz(names.map((name) => ({ name })))), unwrap: { keep: ["ansible"] } }
    const snapshot = await world.fetch(location)
    expect(paths(snapshot)).toEqual(expected)
    expect(expected.map((path) => statSync(join(snapshot.root ?? "", path)).isFile())).not.toContain(false)
  })

  test("a link that stays in the archive but leaves the unwrapped tree is refused", async () => {
    const world = gitWorld()
    const bytes = tarGz([{ name: "top/a" }, { name: "top/l", type: "2", link: "../top/a" }])
    expect((await world.fault({ ...upload(world, "x.tgz", bytes), unwrap: { keep: [] } })).facts.rule).toBe("link")
  })

  const hostile: readonly (readonly [string, readonly TarEntry[], string, string])[] = [
    ["a path that climbs", [{ name: "../x" }], "path", "../x"],
    ["a path that climbs later", [{ name: "a/../../x" }], "path", "a/../../x"],
    ["an absolute path", [{ name: "/tmp/x" }], "path", "/tmp/x"],
    ["a path with a backslash", [{ name: "a\\..\\x" }], "path", "a"],
    ["a link out of the tree", [{ name: "l", type: "2", link: "../x" }], "link", "l"],
    ["an absolute link", [{ name: "l", type: "2", link: "/etc/passwd" }], "link", "l"],
    ["a file through a link", [{ name: "l", type: "2", link: "/tmp" }, { name: "l/x" }], "duplicate", "l/x"],
    ["a file in a link's place", [{ name: "l", type: "2", link: "/tmp/x" }, { name: "l" }], "duplicate", "l"],
    ["a hard link", [{ name: "a" }, { name: "l", type: "1", link: "a" }], "special", "l"],
    ["a hard link out of the tree", [{ name: "l", type: "1", link: "/etc/passwd" }], "special", "l"],
    ["a character device", [{ name: "d", type: "3" }], "special", "d"],
    ["a block device", [{ name: "d", type: "4" }], "special", "d"],
    ["a pipe", [{ name: "p", type: "6" }], "special", "p"],
    ["a set-id program", [{ name: "s", mode: 0o4755 }], "set-id", "s"],
    ["the same path twice", [{ name: "a" }, { name: "./a" }], "duplicate", "a"],
    ["twins in case", [{ name: "A" }, { name: "a" }], "twin", "a"],
    ["twins in Unicode form", [{ name: "caf\u00e9" }, { name: "cafe\u0301" }], "twin", "caf"],
  ]
  test.each(hostile)("%s is refused and named; the old snapshot stays", async (_, entries, rule, item) => {
    const world = gitWorld()
    const old = await world.fetch(upload(world, "x.tgz", tarGz([{ name: "a", content: "old" }])))
    const fault = await world.fault(upload(world, "x.tgz", tarGz([{ name: "honest" }, ...entries])))
    expect(fault).toMatchObject({ kind: "invalid", facts: { reason: "refused", rule } })
    expect(fault.message).toContain(item)
    expect(await world.run(textOf(old, "a"))).toBe("old")
    expect(readdirSync(join(world.folder, "snapshots"))).toEqual([old.id])
    world.expectClean()
  })

  test.each([
    ["a path that climbs", { "../x": { content: "" } }, "path"],
    ["an absolute path", { "/x": { content: "" } }, "path"],
    ["a path with a backslash", { "a\\x": { content: "" } }, "path"],
    ["an absolute link", { l: { content: "/etc/passwd", mode: 0o120777 } }, "link"],
    ["a device", { d: { content: "", mode: 0o020644 } }, "special"],
    ["a set-id program", { s: { content: "", mode: 0o104755 } }, "set-id"],
    ["twins", { a: { content: "" }, A: { content: "" } }, "twin"],
  ])("in a zip, %s is refused", async (_, entries, rule) => {
    const world = gitWorld()
    expect((await world.fault(upload(world, "x.zip", zip(entries)))).facts).toMatchObject({ reason: "refused", rule })
    world.expectClean()
  })

  test("gigabytes from kilobytes, countless files and endless files are cut off", async () => {
    const world = gitWorld({ tree: { files: 500, fileBytes: 30_000_000, totalBytes: 40_000_000 }, archiveRatio: 50 })
    const ruleOf = async (name: string, bytes: Uint8Array) => {
      const fault = await world.fault(upload(world, name, bytes))
      expect(fault.kind).toBe("too-large")
      world.expectClean()
      return fault.facts.rule
    }
    const zeros = new Uint8Array(20_000_000)
    expect(await ruleOf("x.tgz", tarGz([{ name: "zeros", content: zeros }]))).toBe("ratio")
    expect(await ruleOf("x.zip", zip({ zeros: { content: "0".repeat(20_000_000) } }))).toBe("ratio")
    expect(await ruleOf("x.tgz", tarGz([{ name: "huge", size: 2 ** 33 - 1 }]))).toBe("file-too-large")
    expect(await ruleOf("x.tgz", tarGz(Array.from({ length: 501 }, (__, n) => ({ name: `${n}` }))))).toBe("too-many-files")
    expect(await ruleOf("x.tar", tar([..."abc"].map((name) => ({ name, content: zeros }))))).toBe("tree-too-large")
  })

  test("countless folders, countless resource forks and endless zeros are cut off, too", async () => {
    const world = gitWorld({ tree: { files: 100, totalBytes: 1_000_000 } })
    const many = (name: (n: number) => string, type: string) =>
      tarGz(Array.from({ length: 401 }, (_, n) => ({ name: name(n), type })))
    for (const bytes of [many((n) => `d${n}/`, "5"), many((n) => `._${n}`, "0"), gzipSync(Buffer.alloc(2_000_000))]) {
      const fault = await world.fault(upload(world, "x.tgz", bytes))
      expect(fault).toMatchObject({ kind: "too-large" })
    }
    const names = Object.fromEntries(Array.from({ length: 401 }, (_, n) => [`d${n}/`, { content: "", mode: 0o040755 }]))
    expect((await world.fault(upload(world, "x.zip", zip(names)))).facts.rule).toBe("too-many-files")
    world.expectClean()
  })

  test.each([
    ["a truncated gzip", "x.tgz", tarGz([{ name: "a", content: "x".repeat(5000) }]).subarray(0, 60)],
    ["a truncated tar", "x.tar", tar([{ name: "a", content: "x".repeat(5000) }]).subarray(0, 1000)],
    ["a truncated zip", "x.zip", zip({ a: { content: "x" } }).subarray(0, 40)],
    ["a zip that is called a tar", "x.tar", zip({ a: { content: "x" } })],
    ["a tar that is called a zip", "x.zip", tar([{ name: "a" }])],
    ["gzip in gzip", "x.tgz", gzipSync(tarGz([{ name: "a" }]))],
    ["text", "x.tgz", Buffer.from("hello")],
    ["nothing", "x.tar", Buffer.alloc(0)],
    ["nothing, as a zip", "x.zip", Buffer.alloc(0)],
  ])("%s is reported as damaged", async (_, name, bytes) => {
    const world = gitWorld()
    expect(await world.fault(upload(world, name, bytes))).toMatchObject({ kind: "invalid", facts: { reason: "broken" } })
    world.expectClean()
  })

  test("an unknown format and a missing file are reported as such", async () => {
    const world = gitWorld()
    expect((await world.fault(upload(world, "x.rar", Buffer.alloc(1)))).facts).toMatchObject({ rule: "format" })
    expect((await world.fault({ type: "archive", file: join(world.root, "none"), name: "x.tar" })).facts.reason).toBe("not-found")
  })

  test("random bytes give a snapshot or a fault, nothing else", async () => {
    const world = gitWorld()
    const good = [tar([{ name: "a", content: "1" }, { name: "b/c" }]), zip({ a: { content: "1" }, "b/c": { content: "" } })]
    await fc.assert(
      fc.asyncProperty(fc.nat(1), fc.nat(3000), fc.uint8Array({ minLength: 1, maxLength: 8 }), async (which, at, noise) => {
        const bytes = Buffer.from(good[which] ?? [])
        bytes.set(noise.subarray(0, bytes.length - (at % bytes.length)), at % bytes.length)
        const location = upload(world, which === 0 ? "x.tar" : "x.zip", bytes)
        const outcome = await world.fetch(location).then(
          () => "ContentFault",
          (failure: { readonly _tag?: string }) => failure._tag,
        )
        expect(outcome).toBe("ContentFault")
        world.expectClean()
      }),
      { numRuns: 40 },
    )
  }, 60_000)
})

describe("packing", () => {
  const pack = (files: readonly ArchiveFile[]) =>
    Archives.use((archives) => Effect.map(Stream.runCollect(archives.pack(files)), (chunks) => Buffer.concat([...chunks])))
  const long = `${"folder/".repeat(30)}größe.txt`

  test("the same files give the same bytes in any order, and another program can read them", async () => {
    const world = gitWorld()
    const stored = await world.fetch(upload(world, "x.tgz", tarGz([{ name: "inside", content: "from a snapshot" }])))
    const files: readonly ArchiveFile[] = [
      { path: "b/run.sh", content: Buffer.from("#!/bin/sh\n"), executable: true },
      { path: "a", content: Buffer.from("x".repeat(1000)) },
      { path: long, content: Buffer.alloc(0) },
      { path: "c", content: { snapshot: stored.id, path: "inside" } },
    ]
    const bytes = await world.run(pack(files))
    expect((await world.run(pack(files.toReversed()))).equals(bytes)).toBe(true)
    const out = join(world.root, "out")
    execFileSync("sh", ["-c", `mkdir "$1" && tar -xzf - -C "$1"`, "sh", out], { input: bytes })
    expect(execFileSync("sh", ["-c", `cd "$1" && cat a b/run.sh c`, "sh", out], { encoding: "utf8" })).toBe(
      `${"x".repeat(1000)}#!/bin/sh\nfrom a snapshot`,
    )
    expect(statSync(join(out, "b/run.sh")).mode & 0o777).toBe(0o755)
    const back = await world.fetch(upload(world, "x.tgz", bytes))
    expect(paths(back)).toEqual(["a", "b/run.sh", "c", long])
  })

  test("a path that no fetch accepts, and a missing file, are faults", async () => {
    const world = gitWorld()
    expect((await world.run(Effect.flip(pack([{ path: "../x", content: Buffer.alloc(1) }])))).facts.rule).toBe("path")
    const missing = { snapshot: (await world.fetch(upload(world, "x.tar", tar([{ name: "a" }])))).id, path: "none" }
    expect((await world.run(Effect.flip(pack([{ path: "x", content: missing }])))).facts.reason).toBe("not-found")
  })
})
