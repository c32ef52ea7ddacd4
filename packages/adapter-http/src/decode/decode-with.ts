import type { ParameterSchemas, WireSchema } from "@rangewright/application"
import { InvalidInput, type FaultIssue } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"

const format = SchemaIssue.makeFormatterStandardSchemaV1()
/** As many issues as a person reads at once. */
const mostIssues = 20
/** For a larger value only the first issue is reported: collecting a million takes seconds, in which nobody is answered. */
const fewValues = 2000

const isSmall = (value: unknown): boolean => {
  const open = [value]
  for (let seen = 0; open.length > 0; seen++) {
    if (seen + open.length > fewValues) return false
    const one = open.pop()
    if (typeof one !== "object" || one === null) continue
    const inside: readonly unknown[] = Object.values(one)
    if (inside.length > fewValues) return false
    open.push(...inside)
  }
  return true
}

const pathText = (path: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }>): string =>
  path
    .map((part) => (typeof part === "object" ? part.key : part))
    .reduce<string>(
      (text, key) => (typeof key === "number" ? `${text}[${key}]` : `${text}${text === "" ? "" : "."}${String(key)}`),
      "",
    )

const issuesOf = (error: Schema.SchemaError): readonly FaultIssue[] =>
  format(error.issue)
    .issues.slice(0, mostIssues)
    .map(({ path = [], message }) => ({ path: pathText(path), message }))

const textOf = ({ path, message }: FaultIssue): string => {
  if (path === "") return message
  return message === "Missing key" ? `${path} is missing` : `${path}: ${message}`
}

/** Decodes, or fails with `InvalidInput` listing the issues with their paths; values are not repeated. */
export type Decode = (value: unknown) => Effect.Effect<unknown, InvalidInput>

/** `what` completes "Cannot read the …". */
export const decodeWith = (schema: WireSchema, what: string): Decode => {
  const decodeSmall = Schema.decodeUnknownResult(schema, { errors: "all" })
  const decodeLarge = Schema.decodeUnknownResult(schema, { errors: "first" })
  return (value) => {
    const result = isSmall(value) ? decodeSmall(value) : decodeLarge(value)
    if (Result.isSuccess(result)) return Effect.succeed(result.success)
    const issues = issuesOf(result.failure)
    const told = issues.map(textOf).join("; ")
    return Effect.fail(new InvalidInput({ what: `Cannot read the ${what}: ${told}`, issues }))
  }
}

const none = Object.freeze({})

/** Decodes parameters by name. Skips the work when none is declared or none is sent. */
export const decodeParameters = (
  fields: ParameterSchemas,
  what: string,
): ((texts: Readonly<Record<string, string>>) => ReturnType<Decode>) => {
  if (Object.keys(fields).length === 0) return () => Effect.succeed(none)
  // the fields of an operation need no services for decoding: its type admits no others
  const decode = decodeWith(Schema.Struct(fields) as unknown as WireSchema, what)
  let ofNone: ReturnType<Decode> | undefined
  return (texts) => (Object.keys(texts).length === 0 ? (ofNone ??= decode(none)) : decode(texts))
}
