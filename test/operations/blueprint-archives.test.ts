import { contentLayer } from "@rangewright/adapter-git"
import type { Download, StoredFile } from "@rangewright/application"
import {
  type Blueprint,
  type BlueprintId,
  blueprintTextIssues,
  defaultTreeLimits,
  type Fault,
  type RecordId,
  type SnapshotId,
  treeIntake,
  type User,
} from "@rangewright/domain"
import { Blueprints, ContentFetcher } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import fc from "fast-check"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync, gzipSync } from "node:zlib"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "../../packages/application/test/support/app.ts"
import { tar, type TarEntry, tarGz, zip } from "../contracts/content/support/archives.ts"

const config = "# as written\r\nludus: []\n"
const requirements = "---\nroles:\n  - name: pub.docker # pinned\n    version: 7.4.4\n"
const png = Uint8Array.from([
  0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1,
])

let folder: string
let app: TestApp
let ada: User
let bob: User
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "blueprint-archives-"))
  const content = await Effect.runPromise(
    Effect.scoped(
      Layer.build(
        contentLayer({
          folder: join(folder, "content"),
          folders: [join(folder, "shipped")],
          tree: { totalBytes: 4 * 1024 * 1024, files: 200 },
        }),
      ),
    ),
  )
  app = makeTestApp({ content })
  ada = await app.addUser("Ada")
  bob = await app.addUser("Bob")
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

let uploads = 0
/** An uploaded file, as an operation receives it. */
const uploaded = (bytes: Uint8Array, filename = "lab.tar.gz"): StoredFile => {
  const path = join(folder, `upload-${++uploads}`)
  writeFileSync(path, bytes)
  return { filename, contentType: "application/gzip", size: bytes.length, path }
}
const importOf = async (bytes: Uint8Array, as = ada): Promise<string> =>
  ((await app.call("importBlueprint", as, { file: uploaded(bytes) })) as { readonly blueprintID: string }).blueprintID
const refusal = (bytes: Uint8Array): Promise<Fault> => app.fails("importBlueprint", ada, { file: uploaded(bytes) })

const collect = (bytes: Download["bytes"]) =>
  app.run(Effect.map(Stream.runCollect(bytes), (parts) => new Uint8Array(Buffer.concat([...parts]))))
const downloadOf = async (id: string, as = ada): Promise<Download> =>
  (await app.call("exportBlueprint", as, { path: { blueprintID: id } })) as Download
const exportOf = async (id: string, as = ada): Promise<Uint8Array> => collect((await downloadOf(id, as)).bytes)

/** The files of an archive, read by an independent reader. */
const filesOf = (archive: Uint8Array): Readonly<Record<string, string>> => {
  const bytes = gunzipSync(archive)
  const files: Record<string, string> = {}
  for (let at = 0; bytes[at] !== 0;) {
    const name = bytes
      .subarray(at, at + 100)
      .toString()
      .replace(/\0.*$/su, "")
    const size = Number.parseInt(bytes.subarray(at + 124, at + 135).toString(), 8)
    files[name] = bytes.subarray(at + 512, at + 512 + size).toString("latin1")
    at += 512 + Math.ceil(size / 512) * 512
  }
  return files
}

const find = (id: string) => app.run(Effect.flatMap(Blueprints, ({ find: byId }) => byId(id as BlueprintId)))
const remove = (id: string) => app.call("deleteBlueprint", ada, { path: { blueprintID: id } })
const snapshots = () => app.run(Effect.flatMap(ContentFetcher, ({ prune }) => prune))

const manifest = (id: string, more = "") => `id: ${id}\nname: Lab\nversion: 1.0.0\nconfig: range-config.yml\n${more}`
const archive = (entries: readonly TarEntry[], id = "lab", more = "") =>
  tarGz([
    { name: "lab/blueprint.yml", content: manifest(id, more) },
    { name: "lab/range-config.yml", content: config },
    ...entries,
  ])

/** The files that a tree accepts together and whose names fit our tars. */
const wellNamed = (files: readonly (readonly [string, string | Uint8Array])[]): readonly TarEntry[] => {
  const intake = treeIntake(defaultTreeLimits)
  return files.flatMap(([path, content]) => {
    const name = `lab/${path}`
    const refused =
      Buffer.byteLength(name) > 100 || intake.admit({ kind: "file", path: name, size: content.length, executable: false })
    return refused ? [] : [{ name, content }]
  })
}

/** Characters that break lines, mean something to YAML, or are invisible. */
const breaksAndSigns = [..."\n\r\t #:-?&*!|>'\"%@`{}[],~\\/0\u2028\u2029\ufeff\u200b\u00a0\u202d\u2066"]

describe("an archive of a blueprint", () => {
  it("has all files of the blueprint below one folder, and a manifest", async () => {
    await app.call("createBlueprint", ada, {
      body: { blueprintID: "team/lab", name: "Lab: one", version: "2.0", tags: ["ad"], min_ludus_version: "2.1", config },
    })
    const { name, ending, bytes } = await downloadOf("team/lab")
    expect(name + ending).toBe("team_lab.tar.gz")
    expect(filesOf(await collect(bytes))).toEqual({
      "team_lab/blueprint.yml":
        'manifest_version: 1\nid: team/lab\nname: "Lab: one"\nversion: "2.0"\ntags: [ad]\nmin_ludus_version: "2.1"\nconfig: range-config.yml\n',
      "team_lab/range-config.yml": config,
    })
  })

  it("is only for users who may read the blueprint", async () => {
    await app.call("createBlueprint", ada, { body: { blueprintID: "lab", config } })
    expect((await app.fails("exportBlueprint", bob, { path: { blueprintID: "lab" } })).kind).toBe("forbidden")
    expect((await app.fails("exportBlueprint", bob, { path: { blueprintID: "none" } })).kind).toBe("not-found")
  })

  it("makes the same blueprint elsewhere, with its other files, and is exported from that one byte for byte", async () => {
    const id = await importOf(
      archive(
        [
          { name: "lab/requirements.yml", content: requirements },
          { name: "lab/img/logo.png", content: png },
          { name: "lab/run.sh", content: "#!/bin/sh\n", mode: 0o755 },
          { name: "lab/docs/bin", content: Uint8Array.from([0, 255, 128, 10]) },
          { name: "lab/docs/again", type: "2", link: "bin" },
        ],
        "team/lab",
        "description: 'd: x'\ntags: [a, b]\nmin_ludus_version: 2.1.0\nthumbnail_path: img/logo.png\n",
      ),
    )
    expect(await find(id)).toMatchObject({
      name: "Lab",
      description: "d: x",
      version: "1.0.0",
      tags: ["a", "b"],
      minVersion: "2.1.0",
    })
    const first = await exportOf(id)
    expect(filesOf(first)).toMatchObject({
      "team_lab/range-config.yml": config,
      "team_lab/requirements.yml": requirements,
      "team_lab/thumbnail.png": Buffer.from(png).toString("latin1"),
      "team_lab/run.sh": "#!/bin/sh\n",
      "team_lab/docs/bin": "\u0000\u00ff\u0080\n",
      "team_lab/docs/again": "\u0000\u00ff\u0080\n",
    })
    expect(Object.keys(filesOf(first))).not.toContain("team_lab/img/logo.png")
    await remove(id)
    expect(await importOf(first, bob)).toBe(id)
    expect((await find(id))?.owner).toBe("Bob")
    expect(Buffer.compare(await exportOf(id, bob), first)).toBe(0)
  })

  it("of a blueprint from a source includes the targets of its links, and needs nothing else elsewhere", async () => {
    const shipped = join(folder, "shipped")
    const at = join(shipped, "blueprints/a/b/c")
    mkdirSync(join(at, "docs"), { recursive: true })
    writeFileSync(join(shipped, "LICENSE"), "free")
    writeFileSync(join(at, "blueprint.yml"), "id: a/b/c\nname: Deep\nversion: 1.0.0\nconfig: deep.yml\nauthor: unknown key\n")
    writeFileSync(join(at, "deep.yml"), config)
    writeFileSync(join(at, "docs/read.me"), "x")
    symlinkSync("../../../../LICENSE", join(at, "LICENSE"))
    const recordId = "blueprint000001" as RecordId
    await app.run(
      Effect.gen(function* () {
        const location = { type: "folder", path: shipped } as const
        const { id: snapshot } = yield* (yield* ContentFetcher).fetch({ location, holder: `blueprint:${recordId}` })
        yield* (yield* Blueprints).putFromSource([
          {
            id: "labs/a/b/c" as BlueprintId,
            recordId,
            owner: ada.id,
            name: "Deep",
            description: "",
            version: "1.0.0",
            tags: [],
            minVersion: "",
            config,
            requirements: undefined,
            bundle: { snapshot, directory: "blueprints/a/b/c" },
            thumbnail: undefined,
            origin: { source: "source000000001" as RecordId, sourceBlueprintID: "a/b/c" },
            createdAt: new Date(0),
          },
        ])
      }),
    )
    const first = await exportOf("labs/a/b/c")
    expect(filesOf(first)).toEqual({
      "labs_a_b_c/LICENSE": "free",
      "labs_a_b_c/blueprint.yml": 'manifest_version: 1\nid: labs/a/b/c\nname: Deep\nversion: "1.0.0"\nconfig: range-config.yml\n',
      "labs_a_b_c/docs/read.me": "x",
      "labs_a_b_c/range-config.yml": config,
    })
    await remove("labs/a/b/c")
    expect(await importOf(first)).toBe("labs/a/b/c")
    expect((await find("labs/a/b/c"))?.origin).toBeUndefined()
    expect(Buffer.compare(await exportOf("labs/a/b/c"), first)).toBe(0)
  })

  it("has the current configuration and thumbnail of the blueprint, not the original ones", async () => {
    const id = await importOf(archive([{ name: "lab/logo.png", content: png }], "lab", "thumbnail_path: logo.png\n"))
    const changed = "ludus: []\n# changed\n"
    await app.call("updateBlueprintConfig", ada, { path: { blueprintID: id }, body: { config: changed } })
    const record = ((await find(id)) as Blueprint).recordId
    await app.call("recordUpdateBlueprint", ada, { path: { id: record }, body: { thumbnail: "" } })
    const files = filesOf(await exportOf(id))
    expect(Object.keys(files).sort()).toEqual(["lab/blueprint.yml", "lab/range-config.yml"])
    expect(files["lab/range-config.yml"]).toBe(changed)
  })

  it("is reproduced byte for byte, whatever its texts and file names contain", async () => {
    const part = fc.oneof(
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
      fc.constantFrom("range-config.yml", "thumbnail.png", "requirements.yml", "Range-Config.yml", "é", "-x", "a b", "…"),
    )
    const path = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"))
    const files = fc.array(fc.tuple(path, fc.uint8Array({ maxLength: 600 })), { maxLength: 6 })
    // all text that may be shown to others, in one line or several; the rest is refused
    const character = fc.oneof(fc.string({ unit: "binary", minLength: 1, maxLength: 1 }), fc.constantFrom(...breaksAndSigns))
    const odd = fc
      .string({ unit: character, maxLength: 30 })
      .filter((description) => !blueprintTextIssues({ description }).length)
    const name = odd.filter((text) => text.trim() !== "")
    const said = fc.record({
      name,
      description: odd,
      version: odd,
      min_ludus_version: odd,
      tags: fc.array(name, { maxLength: 3 }),
    })
    let n = 0
    const roundTrip = fc.asyncProperty(files, said, fc.boolean(), async (given, text, pictured) => {
      const id = `lab/x${++n}`
      const own = [
        ["blueprint.yml", manifest(id, "thumbnail_path: p/logo.png\n").replace("range-config.yml", "cfg/c.yml")],
        ["cfg/c.yml", config],
        ...(pictured ? [["p/logo.png", png] as const] : []),
      ] as const
      await importOf(tarGz(wellNamed([...own, ...given])))
      await app.call("updateBlueprintMetadata", ada, { path: { blueprintID: id }, body: text })
      const first = await exportOf(id)
      await remove(id)
      expect(await importOf(first, bob)).toBe(id)
      expect(Buffer.compare(await exportOf(id, bob), first)).toBe(0)
      expect(filesOf(first)[`lab_x${n}/blueprint.yml`]).toContain(`id: ${id}\n`)
    })
    // each reads two archives in threads of their own
    await fc.assert(roundTrip, { numRuns: 30 })
  }, 120_000)
})

describe("an import", () => {
  it("creates a blueprint of the caller's under the id in the archive, shared with nobody, and returns its record", async () => {
    const answer = await app.call("importBlueprint", ada, { file: uploaded(archive([])) })
    const made = await find("lab")
    expect(answer).toEqual({ result: "Blueprint lab imported", blueprintID: "lab", id: made?.recordId })
    expect(made).toMatchObject({ owner: "Ada", sharedUsers: [], origin: undefined, bundle: { directory: "" } })
  })

  it("accepts files without a folder, and other names of the configuration", async () => {
    const id = await importOf(
      tarGz([
        { name: "blueprint.yml", content: manifest("lab").replace("range-config.yml", "conf/lab.yml") },
        { name: "./conf/lab.yml", content: config },
        { name: "range-config.yml", content: "another file" },
      ]),
    )
    expect(await app.call("getBlueprintConfig", ada, { path: { blueprintID: id }, query: {} })).toMatchObject({
      json: { result: config },
    })
    const files = filesOf(await exportOf(id))
    expect(files["lab/range-config.yml"]).toBe("another file")
    expect(files["lab/range-config-2.yml"]).toBe(config)
  })

  it("refuses an id in use, even by somebody else, and keeps nothing of the archive", async () => {
    await importOf(archive([]))
    const before = await find("lab")
    expect(await app.fails("importBlueprint", bob, { file: uploaded(archive([{ name: "lab/x", content: "x" }])) })).toMatchObject(
      {
        kind: "conflict",
        message: expect.stringContaining("already exists") as string,
      },
    )
    expect(await find("lab")).toEqual(before)
    expect(await snapshots()).toHaveLength(1)
  })

  it("keeps the files of a blueprint as long as it or a copy of it exists", async () => {
    const id = await importOf(archive([{ name: "lab/x", content: "x" }]))
    const original = await exportOf(id)
    await app.call("copyBlueprint", ada, { path: { blueprintID: id }, body: { blueprintID: "second" } })
    await remove(id)
    expect(await snapshots()).toEqual([])
    expect(filesOf(await exportOf("second"))["second/x"]).toBe("x")
    expect(Object.keys(filesOf(original))).toHaveLength(3)
    await remove("second")
    expect(await snapshots()).toHaveLength(1)
  })

  it("copies a blueprint only with its files", async () => {
    const id = await importOf(archive([]))
    const { recordId, bundle } = (await find(id)) as Blueprint
    await app.run(
      Effect.flatMap(ContentFetcher, ({ release }) => release(bundle?.snapshot as SnapshotId, `blueprint:${recordId}`)),
    )
    await snapshots()
    expect((await app.fails("copyBlueprint", ada, { path: { blueprintID: id }, body: {} })).kind).toBe("conflict")
    expect((await app.fails("exportBlueprint", ada, { path: { blueprintID: id } })).kind).toBe("failed")
    expect(app.store.blueprints.size).toBe(1)
  })

  const unsafe: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ["a path that climbs", archive([{ name: "lab/../../evil", content: "x" }]), /evil/u],
    ["an absolute path", archive([{ name: "/etc/evil", content: "x" }]), /etc\/evil/u],
    ["a link out of the archive", archive([{ name: "lab/evil", type: "2", link: "../../etc/passwd" }]), /lab\/evil/u],
    ["a hard link", archive([{ name: "lab/evil", type: "1", link: "lab/blueprint.yml" }]), /lab\/evil/u],
    ["a device", archive([{ name: "lab/evil", type: "3" }]), /lab\/evil/u],
    ["a pipe", archive([{ name: "lab/evil", type: "6" }]), /lab\/evil/u],
    ["a file that changes its user", archive([{ name: "lab/evil", content: "x", mode: 0o4755 }]), /lab\/evil/u],
    ["a path twice", archive([{ name: "lab/range-config.yml", content: "ludus: [x]" }]), /lab\/range-config\.yml/u],
    ["a twin in case", archive([{ name: "lab/BLUEPRINT.yml", content: "x" }]), /lab\/BLUEPRINT\.yml/u],
    ["too many files", archive(Array.from({ length: 300 }, (_, n) => ({ name: `lab/${n}`, content: "x" }))), /more than 200/u],
    [
      "megabytes from kilobytes",
      archive([{ name: "lab/zeros", content: new Uint8Array(5 * 1024 * 1024) }]),
      /lab\/zeros|larger/u,
    ],
    ["a cut end", archive([{ name: "lab/x", content: "x".repeat(2000) }]).subarray(0, -100), /damaged|truncated/u],
    ["a zip", new Uint8Array(zip({ "blueprint.yml": { content: manifest("lab") } })), /damaged|truncated/u],
    ["a tar without gzip", new Uint8Array(tar([{ name: "blueprint.yml", content: manifest("lab") }])), /damaged|truncated/u],
    ["gzip in gzip", gzipSync(archive([])), /compressed/u],
    ["text", Buffer.from("no archive"), /damaged|truncated/u],
    ["nothing", new Uint8Array(), /damaged|truncated|has no blueprint\.yml/u],
    ["no manifest", tarGz([{ name: "lab/range-config.yml", content: config }]), /has no blueprint\.yml/u],
    ["a manifest too deep", tarGz([{ name: "a/b/blueprint.yml", content: manifest("lab") }]), /has no blueprint\.yml/u],
    ["a manifest that is no text", tarGz([{ name: "blueprint.yml", content: Uint8Array.from([0xff, 0xfe]) }]), /not UTF-8 text/u],
    ["a manifest of bombs", tarGz([{ name: "blueprint.yml", content: "a: &a [*a, *a]\n" }]), /blueprint\.yml/u],
    ["an id with path tricks", archive([], "../evil"), /blueprint\.yml: .*\.\.\/evil/u],
    ["no name", tarGz([{ name: "blueprint.yml", content: "id: lab\nversion: 1\nconfig: c\n" }]), /"name" is missing/u],
    [
      "a configuration outside",
      tarGz([{ name: "blueprint.yml", content: "id: a\nname: b\nversion: 1\nconfig: ../c\n" }]),
      /config/u,
    ],
    [
      "a configuration that is not there",
      tarGz([{ name: "blueprint.yml", content: manifest("lab") }]),
      /range-config\.yml, which is not/u,
    ],
    ["a newer kind of manifest", archive([], "lab", "manifest_version: 2\n"), /manifest_version/u],
    [
      "a picture that is none",
      archive([{ name: "lab/p.png", content: "<svg/>" }], "lab", "thumbnail_path: p.png\n"),
      /p\.png: a PNG/u,
    ],
    [
      "requirements that a program takes for options",
      archive([{ name: "lab/requirements.yml", content: "roles: ['--server=evil']\n" }]),
      /requirements\.yml: .*--server/u,
    ],
    ["tags that are too long", archive([], "lab", `tags: [${"x".repeat(65)}]\n`), /tags\[0\]/u],
  ]
  it.each(unsafe)("refuses an archive with %s, naming the problem, and keeps nothing", async (_, bytes, named) => {
    const fault = await refusal(bytes)
    expect([fault.kind, fault.message]).toEqual(["invalid", expect.stringMatching(named)])
    expect(fault.message).not.toContain(folder)
    expect(app.store.blueprints.size).toBe(0)
    const left = await snapshots()
    expect(left.length).toBeLessThanOrEqual(1)
    expect(await snapshots()).toEqual([])
  })
})
