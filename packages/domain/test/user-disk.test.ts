import {
  blueprintTextIssues,
  diskParts,
  diskUse,
  exceedsDisk,
  keptRow,
  type KeptThing,
  type NamedThing,
  type SnapshotId,
  treeBytes,
  UserDiskExceeded,
  type UserId,
} from "@rangewright/domain"
import { describe, expect, it } from "vitest"

const user = "Ada" as UserId
const [one, two] = ["1".repeat(40), "2".repeat(40)] as SnapshotId[]

describe("what a user keeps", () => {
  it("is the sum of all things, with each content once", () => {
    const things: readonly KeptThing[] = [
      { bytes: 5 },
      { bytes: 1, snapshot: one },
      { bytes: 1, snapshot: one },
      { bytes: 0, snapshot: two },
    ]
    expect(diskUse(things, (id) => (id === one ? 100 : 1000))).toBe(1107)
    expect(diskUse([], () => 1)).toBe(0)
  })

  it("is listed item by item, largest first, each with all its content, and which ones share that", () => {
    const things: readonly NamedThing[] = [
      { kind: "role", name: "web", bytes: 50 },
      { kind: "source", name: "labs", bytes: 1, snapshot: one },
      { kind: "blueprint", name: "labs/a", bytes: 7, snapshot: one },
      { kind: "blueprint", name: "own", bytes: 1, snapshot: two },
      { kind: "blueprint", name: "bare", bytes: 1 },
    ]
    const parts = diskParts(things, (id) => (id === one ? 100 : 1000))
    expect(parts).toEqual([
      { kind: "blueprint", name: "own", bytes: 1001, shared: false },
      { kind: "blueprint", name: "labs/a", bytes: 107, shared: true },
      { kind: "source", name: "labs", bytes: 101, shared: true },
      { kind: "role", name: "web", bytes: 50, shared: false },
      { kind: "blueprint", name: "bare", bytes: 1, shared: false },
    ])
    expect(diskParts(things.toReversed(), (id) => (id === one ? 100 : 1000))).toEqual(parts)
  })

  it("takes no less for a blueprint without content than what may be said of it", () => {
    const three = "漢"
    const said = {
      name: three.repeat(255),
      description: three.repeat(5000),
      version: three.repeat(255),
      minVersion: three.repeat(255),
      tags: Array.from({ length: 100 }, (_, at) => `${at}`.padEnd(64, three)),
    }
    expect(blueprintTextIssues(said)).toEqual([])
    expect(keptRow(0, undefined).bytes).toBeGreaterThan(Buffer.byteLength(JSON.stringify(said)))
  })

  it("uses space even if empty: rows, files, links and folders have a cost", () => {
    const file = { kind: "file", path: "a/b/c", size: 10 } as const
    expect(treeBytes([file])).toBe(3 * 8192 + 10)
    expect(treeBytes([file, { kind: "link", path: "a/b/l" }, { ...file, path: "d" }])).toBe(5 * 8192 + 20)
  })

  it.each([
    ["up to the limit", { before: 5, after: 10 }, false],
    ["over the limit", { before: 5, after: 11 }, true],
    ["over the limit, where it is already", { before: 20, after: 21 }, true],
    ["as much as before, although that is too much by now", { before: 20, after: 20 }, false],
    ["less than before, although that is too much by now", { before: 20, after: 15 }, false],
  ])("may be %s: %j refused: %s", (_what, change, refused) => expect(exceedsDisk({ user, limit: 10, ...change })).toBe(refused))

  it("is shown in numbers that are never too small", () => {
    const gib = 1024 ** 3
    const fault = new UserDiskExceeded({
      doing: "install it",
      user,
      limit: 20 * gib,
      before: 19.96 * gib,
      after: 19.96 * gib + 9,
    })
    expect(fault.message).toMatch(/^Cannot install it: it takes 0\.1 MiB more .* already take 20 GiB of 20 GiB$/u)
    expect(fault).toMatchObject({ kind: "forbidden", hint: expect.stringContaining("user_disk") })
  })
})
