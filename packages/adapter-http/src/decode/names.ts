import type { Operation } from "@rangewright/application"
import { InvalidInput, similar } from "@rangewright/domain"
import * as AST from "effect/SchemaAST"
import type { SentQuery } from "./url.ts"

/** The selectors that every operation takes in its query. */
const selectors = ["userID", "rangeID"] as const

/** Also a selector, for scripts that send it: of a change only, as the wire ignores it in reads. */
const numberSelector = "rangeNumber"

/** What people write who mean a selector: what it is called elsewhere, without letter case and separators. */
const aliases: ReadonlyMap<string, string> = new Map([
  ...["range", "ranges", "rangeids", "rangename", "rangenumber", "rangeno", "id", "ids", "rid"].map(
    (a) => [a, "rangeID"] as const,
  ),
  ...["user", "users", "userids", "username", "usernumber", "uid"].map((a) => [a, "userID"] as const),
])

/** A name without letter case and separators: `range_id`, `Range-ID` and `rangeID[]` are one. */
const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "")

/** Gives the name that a misspelt one stands for; undefined: it is none of these. Each of `names` is known by its plain form and its aliases. */
const meantBy = (names: readonly string[]): ((name: string) => string | undefined) => {
  const byPlain = new Map(names.map((name) => [plain(name), name]))
  return (name) => {
    const text = plain(name)
    const alias = aliases.get(text)
    return byPlain.get(text) ?? (alias !== undefined && names.includes(alias) ? alias : undefined)
  }
}

/** The members of a JSON body at its top, as the schema has them. */
const membersOf = ({ input: { body } }: Operation): readonly string[] => {
  if (body.type !== "json" && body.type !== "json-or-multipart") return []
  const ast = AST.toEncoded(body.schema.ast)
  return AST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : []
}

/** A name, and what is parted in it by signs that were escaped too often or not at all: `amp;rangeID`, `rangeID=X` and `rangeID[eq]`. */
const partsOf = (name: string): readonly string[] => [name, ...name.split(/[=:;,&?[\]]/u).filter((part) => part !== "")]

const refused = (does: string, name: string, hint: string): InvalidInput =>
  new InvalidInput({
    what: `Cannot ${does}: ${name} is not known here, and without it the request could affect something else`,
    hint,
  })

/** How the query of an operation gets the names that the operation has for its parameters. */
export type NameQuery = (sent: SentQuery) => Readonly<Record<string, string>>

/**
 * Names match in any letter case; others are left out. An operation that changes something throws `InvalidInput` for a name that stands for
 * a selector or a parameter of its own, for a member of its body, and for a dry run that it cannot do: with those left out it would work on
 * the default range, on everything, or in earnest.
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
    const query = Object.create(null) as Record<string, string>
    for (const [folded, { name, value }] of sent) {
      const own = names.get(folded)
      if (own !== undefined) query[own] = value
      else if (mutates) check(name)
    }
    return query
  }
}

/** Throws `InvalidInput` for the name of a member or of a field of a form. */
export type CheckName = (name: string) => void

/**
 * Refuses the names in a body that stand for another one which the operation takes there, or are nearly that one, and where it works on the
 * range that the query names, for a selector: it would be ignored, and the default range be hit. Undefined: the operation takes whatever name.
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

/** More names than anybody types; comparing each of a hundred thousand takes seconds. */
const mostNames = 200

/** Throws `InvalidInput` for a member of a JSON body that `bodyNames` refuses, or for more of them than anybody means. */
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
