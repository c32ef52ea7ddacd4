/** The order in which the roles of a range run, from their dependencies. */
import * as Result from "effect/Result"
import type { RangeConfig, RoleUse } from "./model.ts"
import type { Path } from "./node.ts"
import { renderName } from "./variables.ts"

/** A role on a machine; `machine` is the rendered name. */
export interface RoleNode {
  readonly machine: string
  readonly role: string
}
/** `before` must have run when `after` starts. */
export interface RoleEdge {
  readonly before: RoleNode
  readonly after: RoleNode
}
export interface RoleOrder {
  /** Every role once, each after all its dependencies; otherwise as in the file, the router's first. */
  readonly order: ReadonlyArray<RoleNode>
  readonly edges: ReadonlyArray<RoleEdge>
}
export interface RoleProblem {
  readonly code: "role-dependency-not-found" | "role-dependency-cycle"
  /** Place of the dependency in the file. */
  readonly path: Path
  /** Contains `ERROR: Dependency not found <machine>:<role>` or `ERROR: Circular dependency found for <machine>:<role>`. */
  readonly message: string
}

/** Whether the router or any machine has a role. */
export const usesRoles = ({ machines, router }: RangeConfig): boolean =>
  [router, ...machines].some(({ roles }) => roles.length > 0)

interface Vertex extends RoleNode {
  readonly needs: Array<{ readonly key: string; readonly path: Path }>
}

/** The order and the edges; or every dependency that does not exist, and every cycle with its path. */
export const resolveRoleOrder = (config: RangeConfig, rangeId: string): Result.Result<RoleOrder, ReadonlyArray<RoleProblem>> => {
  const vertices = collect(config, rangeId)
  const problems: Array<RoleProblem> = []
  const edges: Array<RoleEdge> = []
  for (const vertex of vertices.values())
    for (const { key, path } of vertex.needs) {
      const before = vertices.get(key)
      if (before === undefined)
        problems.push({ code: "role-dependency-not-found", path, message: `ERROR: Dependency not found ${key}` })
      else edges.push({ before: pair(before), after: pair(vertex) })
    }
  const order = sort(vertices, problems)
  return problems.length > 0 ? Result.fail(problems) : Result.succeed({ order, edges })
}

const pair = ({ machine, role }: RoleNode): RoleNode => ({ machine, role })
const keyOf = (machine: string, role: string): string => `${machine}:${role}`
const byKey = (a: { readonly key: string }, b: { readonly key: string }): number => (a.key < b.key ? -1 : Number(a.key > b.key))

/** Vertices by key in file order, with their dependencies sorted. A role listed twice on a machine is one vertex. */
const collect = (config: RangeConfig, rangeId: string): ReadonlyMap<string, Vertex> => {
  const vertices = new Map<string, Vertex>()
  const name = (text: string): string => renderName(text, { rangeId })
  const add = (owner: string, roles: ReadonlyArray<RoleUse>, base: Path): void => {
    const machine = name(owner)
    for (const [index, use] of roles.entries()) {
      const key = keyOf(machine, use.name)
      const vertex = vertices.get(key) ?? { machine, role: use.name, needs: [] }
      vertices.set(key, vertex)
      for (const [at, dependency] of use.dependsOn.entries()) {
        const needed = keyOf(name(dependency.machine), dependency.role)
        if (!vertex.needs.some((need) => need.key === needed))
          vertex.needs.push({ key: needed, path: [...base, "roles", index, "depends_on", at] })
      }
    }
  }
  add(config.router.name, config.router.roles, ["router"])
  for (const [index, machine] of config.machines.entries()) add(machine.name, machine.roles, ["ludus", index])
  for (const vertex of vertices.values()) vertex.needs.sort(byKey)
  return vertices
}

/** Depth first without recursion: a chain may be as long as the file. Adds a problem for each edge that closes a cycle. */
const sort = (vertices: ReadonlyMap<string, Vertex>, problems: Array<RoleProblem>): ReadonlyArray<RoleNode> => {
  const order: Array<RoleNode> = []
  const state = new Map<string, "open" | "done">()
  for (const [root, start] of vertices) {
    if (state.has(root)) continue
    const trail: Array<{ readonly key: string; readonly vertex: Vertex; next: number }> = [{ key: root, vertex: start, next: 0 }]
    state.set(root, "open")
    for (let top = trail.at(-1); top !== undefined; top = trail.at(-1)) {
      const need = top.vertex.needs[top.next]
      if (need === undefined) {
        order.push(pair(top.vertex))
        state.set(top.key, "done")
        trail.pop()
        continue
      }
      top.next += 1
      const target = vertices.get(need.key)
      const seen = state.get(need.key)
      if (seen === "open")
        problems.push(
          cycle(
            trail.map(({ key }) => key),
            need.key,
            need.path,
          ),
        )
      if (target === undefined || seen !== undefined) continue
      state.set(need.key, "open")
      trail.push({ key: need.key, vertex: target, next: 0 })
    }
  }
  return order
}

const longestCycleShown = 20
const cycle = (trail: ReadonlyArray<string>, closes: string, path: Path): RoleProblem => {
  const members = [...trail.slice(trail.indexOf(closes)), closes]
  const shown =
    members.length > longestCycleShown
      ? [...members.slice(0, longestCycleShown - 1), `… (${members.length - longestCycleShown} more)`, closes]
      : members
  return {
    code: "role-dependency-cycle",
    path,
    message: `ERROR: Circular dependency found for ${closes}: ${shown.join(" needs ")}`,
  }
}
