import { matchRoute, normalisePath } from "../../src/http/router.ts"
import type { Property } from "../../src/schema/schema.ts"
import { hasReference, readReferenceJson } from "./reference.ts"

/** An answer with its body read. */
export interface Answer {
  readonly status: number
  readonly reason: string
  readonly data: unknown
  readonly message: string | undefined
  readonly errors: Readonly<Record<string, string>> | undefined
  readonly body: string
  /** The whole JSON body. */
  readonly json: Readonly<Record<string, unknown>>
}

interface Returns extends Property {
  readonly properties?: Readonly<Record<string, Returns>>
  readonly items?: Returns
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly returns?: Returns }>>>>
}

const document = hasReference ? readReferenceJson<Document>("apidoc.json") : undefined

/**
 * Where the published schema and recorded servers disagree, the recorded servers are followed: the path below a call's data
 * and why.
 */
const lenient = new Map<string, string>([
  ["GET /access/users/{userid} tokens", "null for a user without tokens, as recorded"],
  ["GET /nodes/{node}/storage/{storage}/content parent", "null for a volume without a base, as recorded"],
  ["GET /cluster/sdn/zones digest", "null in the pending and running views, as recorded"],
  ["GET /cluster/sdn/zones/{zone} digest", "null in the pending and running views, as recorded"],
  ["GET /cluster/sdn/vnets digest", "null in the pending and running views, as recorded"],
  ["GET /cluster/sdn/vnets/{vnet} digest", "null in the pending and running views, as recorded"],
  ["GET /cluster/sdn/vnets pending", "holds `deleted` for a key that an apply removes"],
])

const isType = (type: string, value: unknown): boolean => {
  switch (type) {
    case "null":
      return value === null
    case "boolean":
      return value === 0 || value === 1 || value === "0" || value === "1" || typeof value === "boolean"
    case "integer":
      return /^-?\d+$/.test(String(value))
    case "number":
      return Number.isFinite(Number(value))
    case "array":
      return Array.isArray(value)
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value)
    default:
      return typeof value === "string" || typeof value === "number"
  }
}

const complain = (schema: Returns, value: unknown, at: string, key: string, out: string[]): void => {
  if (lenient.has(`${key} ${at.replace(/^\[\]\.?/, "")}`)) return
  if (at === "" && value === null && schema.optional) return
  if (schema.type !== undefined && schema.type !== "any" && !isType(schema.type, value)) {
    out.push(`${at || "data"}: ${JSON.stringify(value)?.slice(0, 60)} is no ${schema.type}`)
    return
  }
  if (schema.enum !== undefined && !schema.enum.includes(String(value)))
    out.push(`${at || "data"}: ${String(value)} is none of ${schema.enum.join(", ")}`)
  if (Array.isArray(value) && schema.items !== undefined)
    for (const item of value) complain(schema.items, item, `${at}[]`, key, out)
  if (schema.properties === undefined || typeof value !== "object" || value === null || Array.isArray(value)) return
  for (const [name, inner] of Object.entries(schema.properties)) {
    const part = (value as Record<string, unknown>)[name]
    const path = at === "" ? name : `${at}.${name}`
    if (part !== undefined) complain(inner, part, path, key, out)
    else if (!inner.optional && !lenient.has(`${key} ${path.replace(/^\[\]\.?/, "")}`)) out.push(`${path} is missing`)
  }
}

/** Violations of the published return schema by an answer's data; empty if the schema is absent. */
export const complaintsAbout = (method: string, path: string, data: unknown): string[] => {
  const match = matchRoute(method, normalisePath(path.split("?")[0]!))
  const returns = match === undefined ? undefined : document?.paths[match.method.path]?.[method]?.returns
  const out: string[] = []
  if (returns !== undefined && match !== undefined) complain(returns, data, "", match.key, out)
  return [...new Set(out)]
}

/** Fails if a successful answer violates the published schema, or an error's body has the wrong shape. */
export const checkAnswer = (method: string, path: string, answer: Answer): void => {
  if (answer.status !== 200) return
  const complaints = complaintsAbout(method, path, answer.data)
  if (complaints.length > 0) throw new Error(`${method} ${path}: ${complaints.slice(0, 5).join("; ")}`)
}
