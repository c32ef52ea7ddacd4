import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { defaultTreeLimits, isMeant, mayConnect, parseNetwork, resolveLinks, type TreeEntry, treeIntake } from "../src/index.ts"

const file = (path: string, size = 1): TreeEntry => ({ kind: "file", path, size, executable: false })
const link = (path: string, target: string): TreeEntry => ({ kind: "link", path, target })
const rule = (entries: readonly TreeEntry[], limits = defaultTreeLimits): string | undefined => {
  const intake = treeIntake(limits)
  for (const entry of entries) {
    const problem = intake.admit(entry)
    if (problem !== undefined) return problem.rule
  }
  return intake.finish()?.rule
}

describe("a tree of files", () => {
  test.each([
    ["honest files", [file("source.yml"), file("ansible/roles/a/tasks/main.yml"), file("..x/...")]],
    ["a relative link inside a role", [file("roles/a/files/x"), link("roles/a/templates/x", "../files/x")]],
    ["a link through a link", [file("d/x"), link("l", "d"), link("m", "l/x")]],
    ["a link that leads nowhere", [link("l", "not/there")]],
  ])("%s are taken", (_, entries) => expect(rule(entries)).toBeUndefined())

  test.each([
    ["a path that climbs", [file("a/../../x")], "path"],
    ["an absolute path", [file("/etc/passwd")], "path"],
    ["a path of two lines", [file("a\nb")], "path"],
    ["a path that is no text", [file("a\ufffd")], "path"],
    ["git's own folder", [file(".git/config")], "path"],
    ["git's own folder in disguise", [file("a/.G\u200cit /config")], "path"],
    ["git's own folder by its short name", [file("GIT~1/config")], "path"],
    ["a path that is too long", [file(`${"a/".repeat(20)}${"b".repeat(300)}`)], "path"],
    ["a path that is too deep", [file(`${"a/".repeat(40)}b`)], "path"],
    ["the same path twice", [file("a"), file("a")], "duplicate"],
    ["a file that is also a folder", [file("a/b"), file("a")], "duplicate"],
    ["a file below a link", [link("a", "b"), file("a/x")], "duplicate"],
    ["twins in case", [file("Readme"), file("README")], "twin"],
    ["twin folders", [file("roles/x"), file("Roles/y")], "twin"],
    ["twins in Unicode form", [file("caf\u00e9"), file("cafe\u0301")], "twin"],
    ["a link out of the tree", [link("a/l", "../../x")], "link"],
    ["an absolute link", [link("l", "/etc/passwd")], "link"],
    ["a link out of the tree through a link", [file("d/e/x"), link("l", "d/e"), link("m", "l/../../../x")], "link"],
    ["a link to itself", [link("l", "l")], "link"],
    ["a link without target", [link("l", "")], "link"],
    ["a file that is too large", [file("a", 2 ** 40)], "file-too-large"],
  ] as const)("%s is refused", (_, entries, expected) => expect(rule(entries)).toBe(expected))

  test("the numbers of files and bytes are limited", () => {
    expect(rule([file("a"), file("b"), file("c")], { ...defaultTreeLimits, files: 2 })).toBe("too-many-files")
    const intake = treeIntake({ ...defaultTreeLimits, totalBytes: 10, fileBytes: 8 })
    expect(intake.count("a", 8, 8)).toBeUndefined()
    expect(intake.count("b", 3, 3)?.rule).toBe("tree-too-large")
    expect(intake.count("b", 9, 0)?.rule).toBe("file-too-large")
  })

  test("whatever links a tree has, accepted links stay inside", () => {
    const name = fc.constantFrom("a", "b", "c")
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"))
    const target = fc.array(fc.constantFrom("a", "b", "..", "."), { minLength: 1, maxLength: 5 }).map((parts) => parts.join("/"))
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            path.map((p) => file(p)),
            fc.tuple(path, target).map(([p, t]) => link(p, t)),
          ),
          { maxLength: 8 },
        ),
        (all) => {
          const intake = treeIntake(defaultTreeLimits)
          const entries = all.filter((entry) => intake.admit(entry) === undefined)
          if (intake.finish() !== undefined) return
          const tree = new Map(entries.map((entry) => [entry.path, entry]))
          for (const { path: from } of entries) expect(resolveLinks(from, tree)).toMatch(/^[abc/]*$/u)
        },
      ),
    )
  })
})

describe("addresses", () => {
  const allowed = [parseNetwork("10.0.0.0/8"), parseNetwork("::1/128")].flatMap((network) => network ?? [])
  test.each(["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"])("%s is public", (address) =>
    expect(mayConnect(address, [])).toBe(true),
  )
  test.each([
    "127.0.0.1",
    "10.1.2.3",
    "169.254.169.254",
    "192.168.0.1",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1",
    "fc00::1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "not an address",
    "fe80::1%eth0",
  ])("%s is not", (address) => expect(mayConnect(address, [])).toBe(false))
  test("exactly the addresses in an allowed network are allowed", () => {
    expect(["10.1.2.3", "::ffff:10.1.2.3", "::1"].map((address) => mayConnect(address, allowed))).toEqual([true, true, true])
    expect(["11.0.0.1", "127.0.0.1", "::2", "192.168.0.1"].map((address) => mayConnect(address, allowed))).toEqual([
      true,
      false,
      false,
      false,
    ])
  })
  test("a network is meant for an address that is alone in it, or that is of the host itself", () => {
    const networks = ["10.0.0.0/8", "192.168.0.7/32", "fd00::7/128", "127.0.0.0/8", "0.0.0.0/0"].flatMap(
      (text) => parseNetwork(text) ?? [],
    )
    const meant = ["192.168.0.7", "::ffff:192.168.0.7", "fd00::7", "127.0.0.1"]
    const others = ["10.1.2.3", "192.168.0.8", "93.184.216.34", "::1", "not an address"]
    expect([...meant, ...others].filter((address) => isMeant(address, networks))).toEqual(meant)
    expect(isMeant("127.0.0.1", networks.slice(-1))).toBe(false)
  })
  test("a network is an address and a length", () =>
    expect(["10.0.0.0", "x/8", "10.0.0.0/40", ""].map(parseNetwork)).toEqual(Array(4).fill(undefined)))
})
