/** What a role says of the variables that it takes: its defaults, and its argument specification. */
import * as Result from "effect/Result"
import type { Json } from "../plan/action.ts"
import { type MapNode, type Node, toJson } from "../range/config/node.ts"
import { readYaml } from "../range/config/read-yaml.ts"

/** One variable of a role. What nobody says is absent. */
export interface RoleVariable {
  readonly name: string
  /** As Ansible calls types: `str`, `int`, `float`, `bool`, `list`, `dict`, …; that of the default where the role does not say. */
  readonly type?: string
  /** Of each element, where the type is `list`. */
  readonly elements?: string
  readonly description?: string
  readonly required?: boolean
  readonly default?: Json
  readonly choices?: ReadonlyArray<Json>
}

export interface RoleVariables {
  /** The defaults as they are; empty where they are none, or cannot be read. */
  readonly defaults: Readonly<Record<string, Json>>
  /** Sorted by name. */
  readonly variables: ReadonlyArray<RoleVariable>
}

export const defaultsFiles = ["defaults/main.yml", "defaults/main.yaml"] as const
/** Where the specification is, the place that counts first. */
export const argumentSpecFiles = [
  "meta/argument_specs.yml",
  "meta/argument_specs.yaml",
  "meta/main.yml",
  "meta/main.yaml",
] as const
export const roleVariableFiles: ReadonlyArray<string> = [...defaultsFiles, ...argumentSpecFiles]

/** Reads them out of the files of a role. Values are those of YAML 1.1, as Ansible reads them. */
export const readRoleVariables = (textOf: (path: string) => string | undefined): RoleVariables => {
  const defaults = first(defaultsFiles, (file) => mapIn(textOf(file)))
  const options = first(argumentSpecFiles, (file) => childMap(mapIn(textOf(file)), "argument_specs", "main", "options"))
  const values = new Map([...(defaults?.entries ?? [])].map(([name, { value }]) => [name, toJson(value)]))
  const names = new Set([...values.keys(), ...(options?.entries.keys() ?? [])])
  return {
    defaults: Object.fromEntries(values),
    variables: [...names].toSorted().map((name) => describe(name, options?.entries.get(name)?.value, values.get(name))),
  }
}

const first = <A>(files: ReadonlyArray<string>, read: (file: string) => A | undefined): A | undefined => {
  for (const file of files) {
    const found = read(file)
    if (found !== undefined) return found
  }
  return undefined
}

const mapIn = (text: string | undefined): MapNode | undefined => {
  const read = text === undefined ? undefined : readYaml(text, [])
  return read !== undefined && Result.isSuccess(read) && read.success.kind === "map" ? read.success : undefined
}

const childMap = (map: MapNode | undefined, ...path: ReadonlyArray<string>): MapNode | undefined => {
  let node: Node | undefined = map
  for (const key of path) node = node?.kind === "map" ? node.entries.get(key)?.value : undefined
  return node?.kind === "map" ? node : undefined
}

const describe = (name: string, option: Node | undefined, value: Json | undefined): RoleVariable => {
  const spec = option?.kind === "map" ? option : undefined
  const field = (key: string): Json | undefined => {
    const node = spec?.entries.get(key)?.value
    return node === undefined ? undefined : toJson(node)
  }
  const given = value ?? field("default")
  const type = textIn(field("type")) ?? typeOf(given)
  const [elements, description, choices] = [textIn(field("elements")), textIn(field("description")), field("choices")]
  return {
    name,
    ...(type === undefined ? {} : { type }),
    ...(elements === undefined ? {} : { elements }),
    ...(description === undefined ? {} : { description }),
    ...(field("required") === true ? { required: true } : {}),
    ...(given === undefined ? {} : { default: given }),
    ...(Array.isArray(choices) ? { choices } : {}),
  }
}

/** A description may be written as a list of paragraphs. */
const textIn = (value: Json | undefined): string | undefined => {
  if (typeof value === "string") return value === "" ? undefined : value
  const parts = Array.isArray(value) ? value.filter((part) => typeof part === "string") : []
  return parts.length === 0 ? undefined : parts.join("\n")
}

const typeOf = (value: Json | undefined): string | undefined => {
  if (value === undefined || value === null) return undefined
  if (typeof value === "string") return "str"
  if (typeof value === "boolean") return "bool"
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float"
  return Array.isArray(value) ? "list" : "dict"
}
