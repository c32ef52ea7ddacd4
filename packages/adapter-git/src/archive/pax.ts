import { damaged } from "../refusal.ts"

/** Attributes that an extended header overrides in the entry after it. */
export interface Described {
  path?: string
  linkTarget?: string
  size?: number
}

const text = new TextDecoder("utf-8", { fatal: true })
const space = 0x20
const newline = 0x0a

/**
 * The records of an extended header (POSIX.1-2001): each `<length> <key>=<value>\n`, which must end at the last byte. Throws a `Refusal`.
 */
function* records(body: Buffer): Generator<readonly [key: string, value: string]> {
  for (let at = 0; at < body.length;) {
    const blank = body.indexOf(space, at)
    const digits = body.toString("latin1", at, blank)
    const end = at + Number(digits)
    if (blank === -1 || !/^[1-9]\d{0,9}$/u.test(digits) || end > body.length || end <= blank || body[end - 1] !== newline)
      throw damaged("one of its extended headers is not a list of records")
    const record = body.subarray(blank + 1, end - 1)
    const equals = record.indexOf("=")
    if (equals < 1) throw damaged("a record of its extended headers has no key")
    const key = record.toString("latin1", 0, equals)
    yield [
      key,
      key === "path" || key === "linkpath" ? decoded(record.subarray(equals + 1)) : record.toString("latin1", equals + 1),
    ]
    at = end
  }
}

const decoded = (bytes: Buffer): string => {
  try {
    return text.decode(bytes)
  } catch {
    throw damaged("a path in its extended headers is not UTF-8 text")
  }
}

/** Checks that a path contains no NUL: programs that stop at the NUL would read a different path. */
export const wholePath = (path: string): string => {
  if (path.includes("\0")) throw damaged("a path in its extended headers contains a NUL", path)
  return path
}

const sizeOf = (value: string): number => {
  if (!/^\d{1,15}$/u.test(value)) throw damaged(`an extended header has the size ${JSON.stringify(value.slice(0, 40))}`)
  return Number(value)
}

/** Adds attributes from another part of a description; no attribute may be set twice. */
export const describe = (described: Described, more: Described): void => {
  for (const key of Object.keys(more)) if (key in described) throw damaged("an entry is described twice, and differently")
  Object.assign(described, more)
}

/** Parses the extended header of one entry. Ignores keys that affect neither its path nor its content. Throws a `Refusal`. */
export const readPax = (body: Buffer): Described => {
  const described: Described = {}
  for (const [key, value] of records(body)) {
    if (key === "path") describe(described, { path: wholePath(value) })
    else if (key === "linkpath") describe(described, { linkTarget: wholePath(value) })
    else if (key === "size") describe(described, { size: sizeOf(value) })
    else if (key.startsWith("GNU.sparse.")) throw damaged("it contains a sparse file; pack the whole file")
  }
  return described
}

/** Checks a global extended header, which may contain comments but change nothing. Throws a `Refusal`. */
export const checkGlobalPax = (body: Buffer): void => {
  for (const [key] of records(body))
    if (["path", "linkpath", "size"].includes(key) || key.startsWith("GNU.sparse."))
      throw damaged(`a header for all of its entries sets their ${key}`)
}
