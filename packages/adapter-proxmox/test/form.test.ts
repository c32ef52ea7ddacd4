import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { encodeForm, path } from "../src/client/form.ts"

/** The form as PVE's parser reads it: `&` and `;` part pairs, a second raw `=` cuts the value. */
const parsed = (form: string): ReadonlyMap<string, readonly string[]> => {
  const found = new Map<string, string[]>()
  for (const pair of form.split(/[&;]/u)) {
    const [key = "", value = ""] = pair.split("=").map((part) => decodeURIComponent(part.replaceAll("+", " ")))
    found.set(key, [...(found.get(key) ?? []), value])
  }
  return found
}

describe("a form", () => {
  it("brings every text to the other side as it was", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.string({ unit: "binary" }).map((text) => text.toWellFormed()),
        (a, b) => {
          expect(parsed(encodeForm({ a, b })).get("a")).toEqual([a.toWellFormed()])
          expect(parsed(encodeForm({ a, b })).get("b")).toEqual([b])
        },
      ),
    )
  })

  it("is plain ASCII without a raw separator inside a value", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (value) => /^a=[A-Za-z0-9%._~-]*$/u.test(encodeForm({ a: value }))))
  })

  it("sends booleans as 0 and 1, numbers as digits, and leaves out what is undefined", () => {
    expect(encodeForm({ full: false, purge: true, newid: 20_001, target: undefined })).toBe("full=0&purge=1&newid=20001")
  })

  it("repeats the key of a list", () => {
    expect(encodeForm({ command: ["guest-stage", "a b"] })).toBe("command=guest-stage&command=a%20b")
  })

  it("encodes ssh keys twice, with blanks that are no plus", () => {
    expect(encodeForm({ sshkeys: "ssh-ed25519 A+B= me@x" })).toBe("sshkeys=ssh-ed25519%2520A%252BB%253D%2520me%2540x")
  })
})

describe("a path", () => {
  it("keeps its route, whatever its values are", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "binary" }), (value) => {
        fc.pre(value !== "." && value !== "..")
        expect(path`/nodes/${value}/qemu`.split("/")).toHaveLength(4)
        expect(path`/nodes/${value}/qemu`).toMatch(/^\/nodes\/[^/?#]+\/qemu$/u)
      }),
    )
  })

  it("refuses values that lead elsewhere", () => {
    for (const value of ["", ".", ".."]) expect(() => path`/nodes/${value}/qemu`).toThrow(RangeError)
  })
})
