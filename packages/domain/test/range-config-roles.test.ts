import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type RangeConfig, resolveRoleOrder, type RoleOrder } from "../src/range/config/index.ts"
import { accepted, machineKeys } from "./range-config-text.ts"

type Needs = ReadonlyArray<readonly [machine: string, role: string]>
const use = (name: string, needs: Needs = []): object => ({
  name,
  depends_on: needs.map(([vm_name, role]) => ({ vm_name, role })),
})
const config = (roles: Readonly<Record<string, ReadonlyArray<unknown>>>, router: object = {}): RangeConfig =>
  accepted({
    ludus: Object.entries(roles).map(([name, list], i) => machineKeys(name, { ip_last_octet: i + 1, roles: list })),
    router,
  }).config
const order = (value: RangeConfig): RoleOrder => {
  const resolved = resolveRoleOrder(value, "LAB")
  if (Result.isFailure(resolved)) throw new Error(resolved.failure.map(({ message }) => message).join())
  return resolved.success
}
const names = (value: RangeConfig): ReadonlyArray<string> => order(value).order.map(({ machine, role }) => `${machine}:${role}`)
const messages = (value: RangeConfig): ReadonlyArray<string> => {
  const resolved = resolveRoleOrder(value, "LAB")
  return Result.isFailure(resolved) ? resolved.failure.map(({ message }) => message) : []
}

describe("roles run", () => {
  test("in the order of the file without dependencies", () => {
    expect(names(config({ b: ["y", "x"], a: ["z"] }))).toEqual(["b:y", "b:x", "a:z"])
  })

  test("after what they depend on, dependencies in sorted order", () => {
    const value = config({
      a: [
        use("app", [
          ["b", "z"],
          ["b", "c"],
        ]),
      ],
      b: ["z", "c"],
    })
    expect(names(value)).toEqual(["b:c", "b:z", "a:app"])
    expect(order(value).edges).toEqual([
      { before: { machine: "b", role: "c" }, after: { machine: "a", role: "app" } },
      { before: { machine: "b", role: "z" }, after: { machine: "a", role: "app" } },
    ])
  })

  test("on machines under their rendered names, the router's first", () => {
    const value = config(
      { "{{ range_id }}-a": [use("app", [["{{range_id}}-gate", "vpn"]])] },
      { vm_name: "{{ range_id }}-gate", roles: [use("vpn")] },
    )
    expect(names(value)).toEqual(["LAB-gate:vpn", "LAB-a:app"])
  })

  test("once, with all dependencies, when listed twice", () => {
    expect(names(config({ a: [use("r", [["a", "s"]]), use("r", [["a", "t"]]), "s", "t"] }))).toEqual(["a:s", "a:t", "a:r"])
  })
})

describe("a range is refused", () => {
  test("for every dependency that does not exist", () => {
    expect(
      messages(
        config({
          a: [
            use("r", [
              ["b", "x"],
              ["a", "y"],
            ]),
          ],
        }),
      ),
    ).toEqual(["ERROR: Dependency not found a:y", "ERROR: Dependency not found b:x"])
  })

  test("for a cycle, with its whole path", () => {
    const value = config({ a: [use("x", [["b", "y"]])], b: [use("y", [["c", "z"]])], c: [use("z", [["b", "y"]])] })
    expect(messages(value)).toEqual(["ERROR: Circular dependency found for b:y: b:y needs c:z needs b:y"])
  })

  test("for a role that depends on itself", () => {
    expect(messages(config({ a: [use("x", [["a", "x"]])] }))).toEqual(["ERROR: Circular dependency found for a:x: a:x needs a:x"])
  })
})

test("a chain may be longer than the call stack", () => {
  const length = 50_000
  const roles = Array.from({ length }, (_, i) => ({
    name: `r${i}`,
    dependsOn: i + 1 < length ? [{ machine: "a", role: `r${i + 1}` }] : [],
  }))
  const value = config({ a: [] })
  expect(names({ ...value, machines: value.machines.map((machine) => ({ ...machine, roles })) })[0]).toBe(`a:r${length - 1}`)
})

test("every role comes once and after its dependencies, or some cycle is named", () => {
  const graph = fc.array(fc.array(fc.nat({ max: 7 }), { maxLength: 3 }), { minLength: 8, maxLength: 8 })
  fc.assert(
    fc.property(graph, (needs) => {
      const value = config({
        a: needs.map((list, i) =>
          use(
            `r${i}`,
            list.map((j) => ["a", `r${j}`] as const),
          ),
        ),
      })
      const resolved = resolveRoleOrder(value, "LAB")
      const reaches = (from: number, to: number, seen = new Set<number>()): boolean =>
        (needs[from] ?? []).some((next) => next === to || (!seen.has(next) && reaches(next, to, seen.add(next))))
      const cyclic = needs.some((_, i) => reaches(i, i))
      expect(Result.isFailure(resolved)).toBe(cyclic)
      if (Result.isFailure(resolved)) return
      const at = new Map(resolved.success.order.map(({ role }, index) => [role, index]))
      expect(at.size).toBe(8)
      for (const { before, after } of resolved.success.edges) expect(at.get(before.role)).toBeLessThan(at.get(after.role) ?? -1)
    }),
  )
})
