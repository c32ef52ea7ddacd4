import type { Operation } from "@rangewright/application"
import { InvalidInput, similar } from "@rangewright/domain"
import * as AST from "effect/SchemaAST"
import type { SentQuery } from "./url.ts"

/** The selectors that every operation accepts in its query. */
const selectors = ["userID", "rangeID"] as const

/** Selects a range too, because scripts send it. Only changes accept it: the wire ignores it in reads. */
const numberSelector = "rangeNumber"

/** Other names that people write when they mean a selector, in lower case without separators. */
const aliases: ReadonlyMap<string, string> = new Map([
  ...["range", "ranges", "rangeids", "rangename", "rangenumber", "rangeno", "id", "ids", "rid"].map(
    (a) => [a, "rangeID"] as const,
  ),
  ...["user", "users", "userids", "username", "usernumber", "uid"].map((a) => [a, "userID"] as const),
])

/** A name in lower case without separators: `range_id`, `Range-ID` and `rangeID[]` are the same. */
const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")

/** Maps a misspelt name to the intended one; undefined when there is none. Each of `names` matches by its plain form and its aliases. */
const meantBy = (names: readonly string[]): ((name: string) => string | undefined) => {
  const byPlain = new Map(names.map((name) => [plain(name), name]))
  return (name) => {
    const text = plain(name)
    const alias = aliases.get(text)
    return byPlain.get(text) ?? (alias !== undefined && names.includes(alias) ? alias : undefined)
  }
}

/** The top-level members of a JSON body according to the schema. */
const membersOf = ({ input: { body } }: Operation): readonly string[] => {
  if (body.type !== "json" && body.type !== "json-or-multipart") return []
  const ast = AST.toEncoded(body.schema.ast)
  return AST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []
}

/** A name and its parts, split at characters that were escaped too often or not at all: `amp;rangeID`, `rangeID=X` and `rangeID[eq]`. */
const partsOf = (name: string): readonly string[] => [name, ...name.split(/[=:;,&?[\]]/u).filter((part) => part !== "")]

const refused = (does: string, name: string, hint: string): InvalidInput =>
  new InvalidInput({
    what: `Cannot ${does}: ${name} is not known here, and without it the request could affect something else`,
    hint,
  })

const none: Readonly<Record<string, string>> = Object.freeze(Object.create(null) as Record<string, string>)

/** Maps the parameters of a query to the names that the operation has for them. */
export type NameQuery = (sent: SentQuery) => Readonly<Record<string, string>>

/**
 * Names match in any letter case; unknown ones are left out. An operation that changes something throws `InvalidInput` for a name that
 * resembles a selector or one of its parameters, a member of its body, or a dry run that it does not support: ignoring those would make it
 * work on the default range, on everything, or for real.
 */
export const nameQuery = (operation: Operation): NameQuery => {
  const { does, input, mutates } = operation
  const known = [...new Set([...selectors, ...Object.keys(input.query)])]
  const members = membersOf(operation)
  const numbered = mutates && !members.includes(numberSelector) ? [numberSelector] : []
  const names = new Map([...known, ...numbered].map((name) => [name.toLowerCase(), name]))
  const inQuery = meantBy(known)
  const inBody = meantBy(members)
  const check = (name: string): void => {
    const member = inBody(name)
    const meant = member === undefined || known.includes(member) ? partsOf(name).map(inQuery).find(Boolean) : undefined
    if (meant !== undefined) throw refused(does, name, `Use ?${meant}= instead.`)
    if (member !== undefined) throw refused(does, `${name} in the query`, `Send ${member} in the request body.`)
    if (plain(name) === "dryrun") throw refused(does, name, "This operation has no dry run.")
  }
  return (sent) => {
    if (sent.size === 0) return none
    const query = Object.create(null) as Record<string, string>
    for (const [folded, { name, value }] of sent) {
      const own = names.get(folded)
      if (own !== undefined) query[own] = value
      else if (mutates) check(name)
    }
    return query
  }
}

/** Throws `InvalidInput` for a disallowed name of a member or form field. */
export type CheckName = (name: string) => void

/**
 * Refuses names in a body that resemble one which the operation accepts there, and, if it works on the range named in the query, names that
 * resemble a selector: they would be ignored, and the default range be used. Undefined when the operation accepts any name.
 */
export const bodyNames = (operation: Operation): CheckName | undefined => {
  const { does, input, mutates, target } = operation
  if (!mutates) return undefined
  const members = input.body.type === "multipart" ? Object.keys(input.body.fields) : membersOf(operation)
  const known = new Set(members.map((name) => name.toLowerCase()))
  const meant = meantBy(members)
  const elsewhere = target === "none" ? [] : selectors.filter((name) => !known.has(name.toLowerCase()) && !(name in input.path))
  if (members.length === 0 && elsewhere.length === 0) return undefined
  return (name) => {
    if (known.has(name.toLowerCase())) return
    const member = meant(name)
    if (member !== undefined) throw refused(does, `${name} in the request body`, `Use ${member} instead.`)
    const near = similar(name, members)
    if (near !== undefined) throw refused(does, `${name} in the request body`, `Did you mean ${near}?`)
    const selector = elsewhere.find((one) => plain(one) === plain(name))
    if (selector !== undefined) throw refused(does, `${name} in the request body`, `Use ?${selector}= in the URL.`)
  }
}

/** More names than anybody types; comparing a hundred thousand takes seconds. */
const mostNames = 200

/** Throws `InvalidInput` for a member of a JSON body that `bodyNames` refuses, or for too many members. */
export const checkMembers = (operation: Operation): ((value: unknown) => void) => {
  const check = bodyNames(operation)
  return (value) => {
    if (check === undefined || typeof value !== "object" || value === null || Array.isArray(value)) return
    const names = Object.keys(value)
    if (names.length > mostNames)
      throw new InvalidInput({
        what: `Cannot ${operation.does}: the request body has ${names.length} members`,
        hint: `Send at most ${mostNames}.`,
      })
    for (const name of names) check(name)
  }
}
