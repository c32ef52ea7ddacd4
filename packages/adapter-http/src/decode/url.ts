import { InvalidInput } from "@rangewright/domain"

const unreadable = (what: string) =>
  new InvalidInput({ what: `Cannot read the ${what} of the URL: it is not valid percent-encoded text` })

const decoded = (text: string, what: string): string => {
  let plain: string
  try {
    plain = decodeURIComponent(text)
  } catch {
    throw unreadable(what)
  }
  if (plain.includes("\0")) throw new InvalidInput({ what: `Cannot read the ${what} of the URL: it contains a NUL character` })
  return plain
}

/** Throws `InvalidInput` for a malformed escape in the path; the router would otherwise pass it on undecoded. */
export const checkPath = (path: string): void => {
  if (path.includes("%")) decoded(path, "path")
}

/** The query as sent, keyed by lower-case name: each name as written, and its value. */
export type SentQuery = ReadonlyMap<string, { readonly name: string; readonly value: string }>

const nothing: SentQuery = new Map()

/**
 * Query parameters, percent-decoded, with `+` as a space; an empty one (`key=`) counts as absent, and one without a sign (`key`) is true:
 * somebody who writes `?dryRun` wants nothing to happen. Throws `InvalidInput` for a malformed escape, and for a parameter given twice, in
 * any letter case, with different values: ignoring one could select another range, or turn a dry run into a real one.
 */
export const readQuery = (text: string): SentQuery => {
  if (text === "") return nothing
  const query = new Map<string, { readonly name: string; readonly value: string }>()
  for (const pair of text.split("&")) {
    if (pair === "") continue
    const at = pair.indexOf("=")
    const [key, sent] = at < 0 ? [pair, "true"] : [pair.slice(0, at), pair.slice(at + 1)]
    if (sent === "") continue
    const name = decoded(key.replaceAll("+", " "), "query")
    const value = decoded(sent.replaceAll("+", " "), "query")
    const folded = name.toLowerCase()
    const other = query.get(folded)
    if (other !== undefined && other.value !== value)
      throw new InvalidInput({
        what: `Cannot read the query of the URL: ${other.name} is given twice, with different values`,
      })
    query.set(folded, { name, value })
  }
  return query
}
