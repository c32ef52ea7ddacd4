import { existsSync, readFileSync } from "node:fs"
import type { PveRequest, PveTransport } from "@rangewright/adapter-proxmox"

interface Property {
  readonly type?: string
  readonly optional?: number | string
  readonly enum?: readonly string[]
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
}
interface Method {
  readonly parameters?: { readonly properties?: Readonly<Record<string, Property>>; readonly additionalProperties?: unknown }
}
type Paths = Readonly<Record<string, Readonly<Record<string, Method>>>>

const file = new URL("../../../../../shared/pve/apidoc.json", import.meta.url)

/** Proxmox's published schema; undefined where the folder with the reference data is absent. */
export const apidoc: Paths | undefined = existsSync(file)
  ? (JSON.parse(readFileSync(file, "utf8")) as { readonly paths: Paths }).paths
  : undefined

export const schemaReason = "the reference data with Proxmox's schema (../shared/pve/apidoc.json) is not here"

const routes = Object.keys(apidoc ?? {}).map((route) => ({
  route,
  pattern: new RegExp(`^${route.replaceAll(/\{[^}]+\}/gu, "([^/]+)")}$`, "u"),
  names: [...route.matchAll(/\{([^}]+)\}/gu)].map((match) => match[1] ?? ""),
}))

const numbered = (properties: Readonly<Record<string, Property>>, name: string): Property | undefined =>
  properties[name] ?? properties[name.replace(/\d+$/u, "[n]")]

const typeProblem = (property: Property, value: string): string | undefined => {
  if (property.type === "boolean" && !/^[01]$/u.test(value)) return "is no boolean (0 or 1)"
  if (property.type === "integer" && !/^-?\d+$/u.test(value)) return "is no integer"
  if (property.type === "number" && !Number.isFinite(Number(value))) return "is no number"
  if (property.minimum !== undefined && Number(value) < property.minimum) return `is below ${property.minimum}`
  if (property.maximum !== undefined && Number(value) > property.maximum) return `is above ${property.maximum}`
  if (property.maxLength !== undefined && value.length > property.maxLength) return `is longer than ${property.maxLength}`
  if (property.enum !== undefined && !property.enum.includes(value)) return `is none of ${property.enum.join(", ")}`
  return undefined
}

/** Violations of the schema by a request: unknown route or verb, unknown, missing, repeated or mistyped parameters, a forbidden body. */
export const schemaProblems = (request: Pick<PveRequest, "method" | "path" | "body">): readonly string[] => {
  const [rawPath = "", query = ""] = request.path.split("?")
  const path = rawPath.replace(/^\/api2\/json/u, "")
  const literalFirst = routes.toSorted((a, b) => a.names.length - b.names.length)
  const match = literalFirst.find(({ pattern, route }) => pattern.test(path) && apidoc?.[route]?.[request.method] !== undefined)
  if (match === undefined) return [`${request.method} ${path}: no such call`]
  const values = match.pattern.exec(path)?.slice(1) ?? []
  const given = new Map<string, string[]>(match.names.map((name, index) => [name, [decodeURIComponent(values[index] ?? "")]]))
  const inBody = request.method === "POST" || request.method === "PUT"
  const problems: string[] = []
  if (!inBody && request.body !== undefined) problems.push("a body where none may be")
  for (const [name, value] of new URLSearchParams(inBody ? request.body : query))
    given.set(name, [...(given.get(name) ?? []), value])
  const { properties = {}, additionalProperties } = apidoc?.[match.route]?.[request.method]?.parameters ?? {}
  for (const [name, all] of given) {
    const property = numbered(properties, name)
    if (property === undefined) {
      if (additionalProperties !== 1) problems.push(`${name}: no such parameter`)
      continue
    }
    if (property.type !== "array" && all.length > 1) problems.push(`${name}: given ${all.length} times`)
    for (const value of all) {
      const problem = typeProblem(property, value)
      if (problem !== undefined) problems.push(`${name}: "${value.slice(0, 60)}" ${problem}`)
    }
  }
  for (const [name, property] of Object.entries(properties))
    if (property.optional === undefined && !name.endsWith("[n]") && !given.has(name)) problems.push(`${name}: missing`)
  return problems.map((problem) => `${request.method} ${match.route}: ${problem}`)
}

/** Passes requests on and collects their violations of the schema. */
export const checkedTransport = (inner: PveTransport, problems: string[]): PveTransport => ({
  ...inner,
  send: (request, signal) => {
    if (apidoc !== undefined) problems.push(...schemaProblems(request))
    return inner.send(request, signal)
  },
})
