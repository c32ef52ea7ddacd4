import { InvalidInput } from "@rangewright/domain"

const unreadable = (what: string) =>
  new InvalidInput({ what: `Cannot read the ${what} of the address: it is not validly percent-encoded text` })

const decoded = (text: string, what: string): string => {
  let plain: string
  try {
    plain = decodeURIComponent(text)
  } catch {
    throw unreadable(what)
  }
  if (plain.includes("\0")) throw new InvalidInput({ what: `Cannot read the ${what} of the address: it holds a NUL character` })
  return plain
}

/** Throws `InvalidInput` when an escape in the path is malformed; the router would otherwise hand it on undecoded. */
export const checkPath = (path: string): void => {
  if (path.includes("%")) decoded(path, "path")
}

const nothing: Readonly<Record<string, string>> = Object.freeze(Object.create(null) as Record<string, string>)

/**
 * Query parameters by name, percent-decoded, `+` as a blank; an empty one (`key=`) counts as absent, and one without a sign (`key`) is
 * true: who writes `?dryRun` wants nothing to happen. A malformed escape throws `InvalidInput`, and so does a parameter that is given
 * twice with different values: leaving one out could aim the request at another range, or change what was to be tried.
 */
export const readQuery = (text: string): Readonly<Record<string, string>> => {
  if (text === "") return nothing
  const query = Object.create(null) as Record<string, string>
  for (const pair of text.split("&")) {
    if (pair === "") continue
    const at = pair.indexOf("=")
    const [key, value] = at < 0 ? [pair, "true"] : [pair.slice(0, at), pair.slice(at + 1)]
    if (value === "") continue
    const name = decoded(key.replaceAll("+", " "), "query")
    const given = decoded(value.replaceAll("+", " "), "query")
    if (query[name] !== undefined && query[name] !== given)
      throw new InvalidInput({ what: `Cannot read the query of the address: ${name} is given twice, with different values` })
    query[name] = given
  }
  return query
}
