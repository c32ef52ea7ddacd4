/** Reads a role's variables from its defaults and its argument specification. */
import * as Result from "effect/Result"
import type { Json } from "../plan/action.ts"
import type { Finding } from "../range/config/issue.ts"
import type { MapNode, Node } from "../range/config/node.ts"
import { readYamlInPart } from "../range/config/read-yaml.ts"
import { roleValue, roleValueType } from "./role-value.ts"

/** A variable of a role. Unspecified fields are absent. */
export interface RoleVariable {
  readonly name: string
  /** Ansible's type names: `str`, `int`, `float`, `bool`, `list`, `dict`, …; the type of the default if the role specifies none. */
  readonly type?: string
  /** Type of the elements, if the type is `list`. */
  readonly elements?: string
  readonly description?: string
  readonly required?: boolean
  readonly default?: Json
  readonly choices?: ReadonlyArray<Json>
  /** For a `dict`, or a list of them: the keys it takes. */
  readonly options?: ReadonlyArray<RoleVariable>
  /** The entry point to which it belongs; absent: the main one. */
  readonly entryPoint?: string
}

export interface RoleVariables {
  /** The defaults; empty if there are none, or they cannot be read. */
  readonly defaults: Readonly<Record<string, Json>>
  /** Variables of the main entry point, sorted by name; then those of other entry points. */
  readonly variables: ReadonlyArray<RoleVariable>
}

export const defaultsFiles = ["defaults/main.yml", "defaults/main.yaml"] as const
/** Possible files of the specification, in order of precedence. */
export const argumentSpecFiles = [
  "meta/argument_specs.yml",
  "meta/argument_specs.yaml",
  "meta/main.yml",
  "meta/main.yaml",
] as const
export const roleVariableFiles: ReadonlyArray<string> = [...defaultsFiles, ...argumentSpecFiles]

const mainEntry = "main"

/** Reads the variables from a role's files, as Ansible does. An invalid value does not affect the others. */
export const readRoleVariables = (textOf: (path: string) => string | undefined): RoleVariables => {
  const defaults: MapNode["entries"] = first(defaultsFiles, (file) => mapIn(textOf(file)))?.entries ?? new Map()
  const entries = first(argumentSpecFiles, (file) => childMap(mapIn(textOf(file)), "argument_specs"))
  const optionsOf = (entry: string) => childMap(entries, entry, "options")
  const names = new Set([...defaults.keys(), ...(optionsOf(mainEntry)?.entries.keys() ?? [])])
  const main = [...names].toSorted().map((name) => describe(name, optionsOf(mainEntry), defaults.get(name)?.value))
  const others = [...(entries?.entries.keys() ?? [])].filter((entry) => entry !== mainEntry).toSorted()
  return {
    defaults: Object.fromEntries([...defaults].map(([name, { value }]) => [name, roleValue(value)])),
    variables: [
      ...main,
      ...others.flatMap((entryPoint) => described(optionsOf(entryPoint)).map((variable) => ({ ...variable, entryPoint }))),
    ],
  }
}

const first = <A>(files: ReadonlyArray<string>, read: (file: string) => A | undefined): A | undefined => {
  for (const file of files) {
    const found = read(file)
    if (found !== undefined) return found
  }
  return undefined
}

/** Errors after which a value can still be shown: it becomes text, or is left out because it has no name. */
const harmless: ReadonlySet<string> = new Set(["not-a-number", "bad-key", "forbidden-key"])

const mapIn = (text: string | undefined): MapNode | undefined => {
  const read = text === undefined ? undefined : readYamlInPart(text, [])
  if (read === undefined || Result.isFailure(read)) return undefined
  const { node, errors } = read.success
  return node.kind === "map"
    ? without(
        node,
        errors.filter(({ code }) => !harmless.has(code)),
      )
    : undefined
}

/**
 * The mapping without the values that contain errors; undefined if the mapping itself is in error. A value whose aliases expand to too much
 * is not reported where other values refer to it, so after such an error nothing in the file can be trusted.
 */
const without = (map: MapNode, errors: ReadonlyArray<Finding>): MapNode | undefined => {
  if (errors.some(({ path, code }) => path.length === 0 || code === "too-large")) return undefined
  const broken = new Set(errors.map(({ path }) => path[0]))
  return { ...map, entries: new Map([...map.entries].filter(([key]) => !broken.has(key))) }
}

const childMap = (map: MapNode | undefined, ...path: ReadonlyArray<string>): MapNode | undefined => {
  let node: Node | undefined = map
  for (const key of path) node = node?.kind === "map" ? node.entries.get(key)?.value : undefined
  return node?.kind === "map" ? node : undefined
}

const described = (options: MapNode | undefined): ReadonlyArray<RoleVariable> =>
  [...(options?.entries.keys() ?? [])].toSorted().map((name) => describe(name, options, undefined))

const describe = (name: string, options: MapNode | undefined, value: Node | undefined): RoleVariable => {
  const option = options?.entries.get(name)?.value
  const spec = option?.kind === "map" ? option : undefined
  const at = (key: string): Node | undefined => spec?.entries.get(key)?.value
  const field = (key: string): Json | undefined => {
    const node = at(key)
    return node === undefined ? undefined : roleValue(node)
  }
  const given = value ?? at("default")
  const type = textIn(field("type")) ?? (given === undefined ? undefined : roleValueType(given))
  const [elements, description, choices] = [textIn(field("elements")), textIn(field("description")), field("choices")]
  const keys = described(childMap(spec, "options"))
  return {
    name,
    ...(type === undefined ? {} : { type }),
    ...(elements === undefined ? {} : { elements }),
    ...(description === undefined ? {} : { description }),
    ...(isTrue(field("required")) ? { required: true } : {}),
    ...(given === undefined ? {} : { default: roleValue(given) }),
    ...(Array.isArray(choices) ? { choices } : {}),
    ...(keys.length === 0 ? {} : { options: keys }),
  }
}

/** Ansible accepts these texts as true, too. */
const isTrue = (value: Json | undefined): boolean =>
  value === true || (typeof value === "string" && /^(?:yes|true)$/iu.test(value))

/** A description may be a list of paragraphs. */
const textIn = (value: Json | undefined): string | undefined => {
  if (typeof value === "string") return value === "" ? undefined : value
  const parts = Array.isArray(value) ? value.filter((part) => typeof part === "string") : []
  return parts.length === 0 ? undefined : parts.join("\n")
}
