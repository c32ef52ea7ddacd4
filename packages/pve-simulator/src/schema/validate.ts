import { badParameter } from "../core/errors.ts"
import { checkFormat, FormatError } from "./formats.ts"
import { cpuFlags, cpuModels, namedStrings } from "./named-strings.ts"
import type { Method, Property } from "./schema.ts"

/** Errors by parameter name; nested ones are named like `net0.model`. */
export type Complaints = Record<string, string>

const patterns = new Map<string, RegExp>()

/** Translates a pattern of the schema (Perl) into a JavaScript expression that matches the whole string. */
export const compilePattern = (pattern: string): RegExp => {
  const known = patterns.get(pattern)
  if (known !== undefined) return known
  const translated = pattern
    .replaceAll(/\(\?\^u?:/g, "(?:")
    .replaceAll(/\(\?\^([a-z]+):/g, "(?$1:")
    .replaceAll(String.raw`\z`, "$")
    .replaceAll(String.raw`\A`, "^")
    .replaceAll("[:alnum:]", "A-Za-z0-9")
    // since Perl 5.34 a missing lower bound is 0; in JavaScript it would match literally
    .replaceAll(/\{,(\d+)\}/g, "{0,$1}")
  const compiled = new RegExp(`^(?:${translated})$`, "s")
  patterns.set(pattern, compiled)
  return compiled
}

const integer = /^[+-]?\d+$/
const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/

/** The value as the server shows it in an error. */
const shown = (value: unknown): string =>
  Array.isArray(value) ? "ARRAY" : typeof value === "object" && value !== null ? "HASH" : `'${String(value)}'`

const typeComplaint = (type: string, value: unknown): string => `type check ('${type}') failed - got ${shown(value)}`

const isScalar = (value: unknown): value is string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean"

const hasType = (type: string, value: unknown): boolean => {
  switch (type) {
    case "array":
      return Array.isArray(value)
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value)
    case "any":
      return true
    case "null":
      return value === null
    case "boolean":
      return value === true || value === false || (isScalar(value) && /^[01]$/.test(String(value)))
    case "integer":
      return isScalar(value) && integer.test(String(value))
    case "number":
      return isScalar(value) && number.test(String(value))
    default:
      return isScalar(value)
  }
}

/** Checks one value; the first error ends the check, as on the server. */
export const checkProperty = (path: string, definition: Property, value: unknown, out: Complaints): void => {
  if (definition.oneOf !== undefined) return checkAlternatives(path, definition.oneOf, value, out)
  if (value === undefined) {
    if (!definition.optional && definition.alias === undefined) out[path] = "property is missing and it is not optional"
    return
  }
  const type = definition.type ?? "string"
  if (!hasType(type, value)) {
    out[path] = typeComplaint(type, value)
    return
  }
  if (Array.isArray(value)) {
    if (definition.items !== undefined) {
      value.forEach((item, index) => checkProperty(`${path}[${index}]`, definition.items!, item, out))
    }
    return
  }
  if (definition.properties !== undefined) {
    return checkObject(path, definition.properties, value as Record<string, unknown>, definition.additionalProperties !== 0, out)
  }
  const complaint = checkScalar(path, definition, isScalar(value) ? value : "")
  if (complaint !== undefined) out[path] = complaint
}

const checkAlternatives = (path: string, alternatives: readonly Property[], value: unknown, out: Complaints): void => {
  let first: Complaints | undefined
  for (const alternative of alternatives) {
    const found: Complaints = {}
    checkProperty(path, alternative, value, found)
    if (Object.keys(found).length === 0) return
    first ??= found
  }
  Object.assign(out, first)
}

const checkScalar = (path: string, definition: Property, value: string | number | boolean): string | undefined => {
  const text = String(value)
  if (definition.format !== undefined) {
    try {
      checkAnyFormat(definition.format, text, path)
    } catch (error) {
      if (error instanceof FormatError) return `invalid format - ${error.message}`
      throw error
    }
  }
  if (definition.pattern !== undefined && !compilePattern(definition.pattern).test(text))
    return "value does not match the regex pattern"
  if (definition.maxLength !== undefined && text.length > definition.maxLength) {
    return `value may only be ${definition.maxLength} characters long`
  }
  if (definition.minLength !== undefined && text.length < definition.minLength) {
    return `value must be at least ${definition.minLength} characters long`
  }
  if (number.test(text)) {
    if (definition.maximum !== undefined && Number(text) > definition.maximum)
      return `value must have a maximum value of ${definition.maximum}`
    if (definition.minimum !== undefined && Number(text) < definition.minimum)
      return `value must have a minimum value of ${definition.minimum}`
  }
  if (definition.enum !== undefined && !definition.enum.includes(text)) {
    return `value '${text}' does not have a value in the enumeration '${definition.enum.join(", ")}'`
  }
  return undefined
}

const checkAnyFormat = (format: NonNullable<Property["format"]>, text: string, path: string): void => {
  if (typeof format !== "string") {
    parsePropertyString(format, text, path)
    return
  }
  const named = namedStrings[format]
  if (named === undefined) return checkFormat(format, text)
  const parsed = parsePropertyString(named.format, text, named.path ?? path)
  if (format === "pve-vm-cpu-conf") checkCpu(parsed)
}

/** Checks a `cpu` value. The handler checks whether a model with the prefix `custom-` exists. */
const checkCpu = ({ cputype: model, flags, ...others }: Readonly<Record<string, string>>): void => {
  if (model === undefined) throw new FormatError("CPU is missing cputype\n")
  if (!model.startsWith("custom-") && !cpuModels.has(model)) {
    throw new FormatError(`Built-in cputype '${model}' is not defined (missing 'custom-' prefix?)\n`)
  }
  if (flags?.split(";").every((flag) => cpuFlags.has(flag.slice(1)) && /^[+-]/u.test(flag)) === false)
    throw new FormatError(`VM-specific CPU flags must be a subset of: ${[...cpuFlags].join(", ")}\n`)
  if (others["reported-model"] !== undefined)
    throw new FormatError("Property 'reported-model' not allowed in VM-specific CPU config.\n")
}

const checkObject = (
  path: string,
  properties: Readonly<Record<string, Property>>,
  value: Readonly<Record<string, unknown>>,
  open: boolean,
  out: Complaints,
): void => {
  const at = (name: string) => (path === "" ? name : `${path}.${name}`)
  for (const [name, definition] of Object.entries(properties)) checkProperty(at(name), definition, value[name], out)
  for (const name of Object.keys(value)) {
    const definition = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (definition === undefined) {
      if (!open) out[at(name)] = "property is not defined in schema and the schema does not allow additional properties"
    } else if (definition.requires !== undefined && value[definition.requires] === undefined) {
      out[at(definition.requires)] = `missing property required by '${at(name)}'`
    }
  }
}

/**
 * Reads a property string such as `virtio=BC:24:11:00:00:01,bridge=vmbr0` by its format and returns its keys.
 * Throws a `FormatError` with all errors; their keys begin with `path`.
 */
export const parsePropertyString = (
  format: Readonly<Record<string, Property>>,
  text: string,
  path: string,
): Record<string, string> => {
  const out: Record<string, string> = Object.create(null)
  const defaultKey = Object.keys(format).find((key) => format[key]!.default_key !== undefined)
  for (const part of text.split(",")) {
    if (part.trim() === "") continue
    const equals = part.indexOf("=")
    if (equals < 0) {
      if (defaultKey === undefined) throw new FormatError("value without key, but schema does not define a default key\n")
      if (out[defaultKey] !== undefined) throw new FormatError(`duplicate key in comma-separated list property: ${defaultKey}\n`)
      out[defaultKey] = part
      continue
    }
    if (equals === 0 || equals === part.length - 1) throw new FormatError("missing key in comma-separated list property\n")
    let key = part.slice(0, equals)
    if (out[key] !== undefined) throw new FormatError(`duplicate key in comma-separated list property: ${key}\n`)
    const definition = Object.hasOwn(format, key) ? format[key]! : undefined
    if (definition?.alias !== undefined) {
      if (definition.keyAlias !== undefined) {
        if (out[definition.keyAlias] !== undefined)
          throw new FormatError(`key alias '${definition.keyAlias}' is already defined\n`)
        out[definition.keyAlias] = key
      }
      key = definition.alias
    }
    const value = part.slice(equals + 1)
    out[key] = Object.hasOwn(format, key) && format[key]!.type === "boolean" ? parseBoolean(value) : value
  }
  const complaints: Complaints = Object.create(null)
  checkObject(path, format, out, false, complaints)
  const lines = Object.entries(complaints).map(([name, complaint]) => `${name}: ${complaint}\n`)
  if (lines.length > 0) throw new FormatError(`format error\n${lines.toSorted().join("")}`)
  return out
}

/** Property strings accept more spellings of a boolean than other parameters. */
export const parseBoolean = (text: string): string => {
  if (/^(1|on|yes|true)$/i.test(text)) return "1"
  if (/^(0|off|no|false)$/i.test(text)) return "0"
  return text
}

/**
 * Checks the parameters of a call and returns them with numbers and booleans in their own type (booleans as 0 and 1).
 * Throws the server's 400 with all errors.
 */
export const validateParameters = (method: Method, given: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const complaints: Complaints = Object.create(null)
  const out: Record<string, unknown> = Object.create(null)
  const lists = listsJoined(method, given)
  checkGiven(method, lists, complaints)
  if (Object.keys(complaints).length > 0) throw badParameter(complaints)
  for (const [name, value] of Object.entries(lists)) out[name] = convert(method.parameters[name], value)
  return out
}

const checkGiven = (method: Method, given: Readonly<Record<string, unknown>>, out: Complaints): void => {
  // check only parameters that are given or required: a VM's configuration has several hundred optional ones
  for (const name of requiredOf(method))
    if (given[name] === undefined) checkProperty(name, method.parameters[name]!, undefined, out)
  for (const [name, value] of Object.entries(given)) {
    const definition = method.parameters[name]
    if (definition === undefined) {
      if (!method.open) out[name] = "property is not defined in schema and the schema does not allow additional properties"
      continue
    }
    checkProperty(name, definition, value, out)
    if (definition.requires !== undefined && given[definition.requires] === undefined) {
      out[definition.requires] = `missing property required by '${name}'`
    }
  }
}

const required = new WeakMap<Method, readonly string[]>()
const isOptional = (definition: Property): boolean =>
  definition.oneOf === undefined ? Boolean(definition.optional) : definition.oneOf.some(isOptional)
const requiredOf = (method: Method): readonly string[] => {
  let names = required.get(method)
  if (names === undefined) {
    names = Object.keys(method.parameters).filter((name) => !isOptional(method.parameters[name]!))
    required.set(method, names)
  }
  return names
}

/** Turns a scalar for an array into a list of one, and joins a list for a `-list` string, as the server does. */
const listsJoined = (method: Method, given: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const out: Record<string, unknown> = Object.create(null)
  for (const [name, value] of Object.entries(given)) {
    const definition = method.parameters[name]
    if (definition?.type === "array" && isScalar(value)) out[name] = [value]
    else if (
      Array.isArray(value) &&
      typeof definition?.format === "string" &&
      definition.format.endsWith("-list") &&
      value.every(isScalar)
    ) {
      out[name] = value.join(",")
    } else out[name] = value
  }
  return out
}

const convert = (definition: Property | undefined, value: unknown): unknown => {
  if (!isScalar(value)) return value
  if (definition?.type === "boolean") return value === true || String(value) === "1" ? 1 : 0
  if (definition?.type === "integer" || definition?.type === "number") return Number(value)
  return String(value)
}
