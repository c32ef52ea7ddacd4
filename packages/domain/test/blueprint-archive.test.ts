import {
  archiveLayout,
  type BlueprintId,
  blueprintManifestText,
  bundleFiles,
  readBlueprintManifest,
  type TreeEntry,
} from "@rangewright/domain"
import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const file = (path: string, executable = false): TreeEntry => ({ kind: "file", path, size: 1, executable })
const link = (path: string, target: string): TreeEntry => ({ kind: "link", path, target })
const paths = (entries: readonly TreeEntry[], directory: string) =>
  bundleFiles(
    entries.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    directory,
  ).map(({ path, from }) => (path === from ? path : `${path} <- ${from}`))

describe("the manifest of an archive", () => {
  const manifest = { id: "web" as BlueprintId, name: "Web", description: "", version: "1.0.0", tags: [], minVersion: "" }

  it("contains the known fields only, in the form that older readers understand", () => {
    expect(blueprintManifestText({ ...manifest, config: "range-config.yml", thumbnail: undefined })).toBe(
      'manifest_version: 1\nid: web\nname: Web\nversion: "1.0.0"\nconfig: range-config.yml\n',
    )
  })

  const kept = (text: string): string => text.toWellFormed().replace(/[^\t\n\r\P{Cc}]|[\u202a-\u202e\u2066-\u2069]/gu, "\ufffd")

  it("is read back as it was written, except for characters that no manifest may contain", () => {
    const odd = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
      fc.constantFrom(
        "true",
        "~",
        "null",
        "1.10",
        "# x",
        "a: b",
        "- a",
        "é\u0085\u2028\ufeff",
        "\u0000",
        "gpj.\u202eexe",
        "\ud800",
        "'",
        '"',
        " x ",
      ),
    )
    const said = fc.record({
      id: fc.constantFrom("web", "true", "labs/a/b/c") as fc.Arbitrary<BlueprintId>,
      name: odd.filter((text) => text.trim() !== ""),
      description: odd,
      version: odd,
      tags: fc.array(odd.filter((text) => text !== "")),
      minVersion: odd,
      config: fc.constantFrom("range-config.yml", "on", "a b/c.yml"),
      thumbnail: fc.option(fc.constant("thumbnail.png"), { nil: undefined }),
    })
    fc.assert(
      fc.property(said, ({ description, minVersion, thumbnail, ...rest }) => {
        const read = readBlueprintManifest(blueprintManifestText({ ...rest, description, minVersion, thumbnail }))
        expect(read).toEqual(
          Result.succeed({
            ...rest,
            name: kept(rest.name),
            version: kept(rest.version),
            tags: rest.tags.map(kept),
            ...(description === "" ? {} : { description: kept(description) }),
            ...(minVersion === "" ? {} : { minLudusVersion: kept(minVersion) }),
            ...(thumbnail === undefined ? {} : { thumbnail }),
          }),
        )
      }),
    )
  })
})

describe("the files of a bundle", () => {
  it("are those below its folder, by paths from it", () => {
    const tree = [file("a/x"), file("ab/y"), file("a/b/z", true), file("root")]
    expect(paths(tree, "")).toEqual(["a/b/z", "a/x", "ab/y", "root"])
    expect(
      bundleFiles(
        tree.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
        "a",
      ),
    ).toEqual([
      { path: "b/z", from: "a/b/z", executable: true },
      { path: "x", from: "a/x", executable: false },
    ])
  })

  it("are collected up to the maximum for an archive only", () => {
    const many = Array.from({ length: 1000 }, (_, n) => file(`all/${n}`))
    const links = Array.from({ length: 1000 }, (_, n) => link(`bp/${n}`, "../all"))
    const tree = [...many, ...links].toSorted((a, b) => (a.path < b.path ? -1 : 1))
    expect(bundleFiles(tree, "bp")).toHaveLength(50_001)
  })

  it("include the targets of links, inside or outside the folder, but no dangling links", () => {
    const tree = [
      file("shared/logo.png"),
      file("shared/deep/x"),
      file("bp/own"),
      link("bp/logo", "../shared/logo.png"),
      link("bp/dir", "../shared"),
      link("bp/gone", "../nothing"),
      link("bp/twice", "logo"),
      link("bp/out", "../../etc/passwd"),
    ]
    expect(paths(tree, "bp")).toEqual([
      "dir/deep/x <- shared/deep/x",
      "dir/logo.png <- shared/logo.png",
      "logo <- shared/logo.png",
      "own <- bp/own",
      "twice <- shared/logo.png",
    ])
  })

  it("are finite even if links are circular", () => {
    const tree = [file("a/x"), link("a/self", "../a"), link("a/b", "../b"), link("b/a", "../a"), link("a/loop", "loop")]
    expect(paths(tree, "a")).toEqual(["self/x <- a/x", "x <- a/x"])
  })
})

describe("the layout of an archive", () => {
  const named = (...names: readonly string[]) => names.map((path) => ({ path, from: path, executable: false }))

  it("has one folder with a harmless name, and the usual names", () => {
    const layout = archiveLayout("labs/a/b" as BlueprintId, [], new Set(), "png")
    expect(layout).toEqual({ folder: "labs_a_b", config: "range-config.yml", thumbnail: "thumbnail.png", files: [] })
  })

  it("leaves out replaced files, and avoids collisions with files or folders that have the default names in any spelling", () => {
    const files = named("blueprint.yml", "lab.yml", "RANGE-config.yml", "range-config-2.yml/x", "thumbnail.png", "read.me")
    const layout = archiveLayout("web" as BlueprintId, files, new Set(["blueprint.yml", "lab.yml"]), "png")
    expect(layout.config).toBe("range-config-3.yml")
    expect(layout.thumbnail).toBe("thumbnail-2.png")
    expect(layout.files.map(({ path }) => path)).toEqual(["RANGE-config.yml", "range-config-2.yml/x", "thumbnail.png", "read.me"])
  })
})
