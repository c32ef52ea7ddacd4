/** What a role says of the variables that it takes: its defaults, and its argument specification. */
import * as Result from "effect/Result"
import type { Json } from "../plan/action.ts"
import type { Finding } from "../range/config/issue.ts"
import type { MapNode, Node } from "../range/config/node.ts"
import { readYamlInPart } from "../range/config/read-yaml.ts"
import { roleValue, roleValueType } from "./role-value.ts"

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
  /** Of a `dict`, or of each element of a list of them: the keys that it takes. */
  readonly options?: ReadonlyArray<RoleVariable>
  /** The role takes it where it is entered here; absent: where it is entered as usual. */
  readonly entryPoint?: string
}

export interface RoleVariables {
  /** The defaults as they are; empty where they are none, or cannot be read. */
  readonly defaults: Readonly<Record<string, Json>>
  /** Sorted by name; then those of other entry points. */
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

const mainEntry = "main"

/** Reads them out of the files of a role, as Ansible reads them. A value that is none leaves the others. */
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

/** Errors after which a value can be shown all the same: it is text then, or left out for having no name. */
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
 * The mapping without those of its values in which there is an error; undefined where the whole is one. A value that aliases unfold to too
 * much counts as a small one in all others that name it: then nothing of the file can be told.
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

/** Ansible takes the text for it too. */
const isTrue = (value: Json | undefined): boolean =>
  value === true || (typeof value === "string" && /^(?:yes|true)$/iu.test(value))

/** A description may be written as a list of paragraphs. */
const textIn = (value: Json | undefined): string | undefined => {
  if (typeof value === "string") return value === "" ? undefined : value
  const parts = Array.isArray(value) ? value.filter((part) => typeof part === "string") : []
  return parts.length === 0 ? undefined : parts.join("\n")
}
