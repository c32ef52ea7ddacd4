import { utf8, utf8Length } from "./utf8.ts"

const block = 512
const nameBytes = 100

const fields: readonly (readonly [offset: number, text: (entry: Entry) => string])[] = [
  [0, ({ name }) => name],
  [100, ({ mode }) => octal(mode, 7)],
  [108, () => octal(0, 7)],
  [116, () => octal(0, 7)],
  [124, ({ size }) => octal(size, 11)],
  [136, () => octal(0, 11)],
  // the checksum counts itself as spaces
  [148, () => "        "],
  [156, ({ type }) => type],
  [157, ({ target = "" }) => target],
  [257, () => "ustar\u000000"],
]

interface Entry {
  readonly name: string
  readonly mode: number
  readonly size: number
  /** `0` a file, `2` a symbolic link, `x` an extended header for the next entry. */
  readonly type: "0" | "2" | "x"
  /** Target of a link. */
  readonly target?: string
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, "0")

const headerOf = (entry: Entry): Uint8Array => {
  const header = new Uint8Array(block)
  for (const [offset, text] of fields) header.set(utf8(text(entry)), offset)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.set(utf8(`${octal(sum, 6)}\0 `), 148)
  return header
}

/** A pax record; its length includes its own digits. */
const paxRecord = (key: string, value: string): Uint8Array => {
  const rest = utf8Length(` ${key}=${value}\n`)
  let length = rest
  while (rest + String(length).length !== length) length = rest + String(length).length
  return utf8(`${length} ${key}=${value}\n`)
}

/** The padding after this many bytes of content, up to the next block. */
export const tarPadding = (size: number): Uint8Array => new Uint8Array((block - (size % block)) % block)

/** The end of every tar. */
export const tarEnd = new Uint8Array(2 * block)

const ascii = (text: string): boolean => utf8Length(text) === text.length

const fits = (text: string): boolean => ascii(text) && text.length <= nameBytes

/** An entry. Paths and targets that do not fit into its header, or are not ASCII, go into an extended header before it. */
const described = (entry: Entry): readonly Uint8Array[] => {
  const { name, target = "" } = entry
  const records = [...(fits(name) ? [] : [paxRecord("path", name)]), ...(fits(target) ? [] : [paxRecord("linkpath", target)])]
  if (records.length === 0) return [headerOf(entry)]
  const size = records.reduce((sum, record) => sum + record.length, 0)
  return [
    headerOf({ name: "pax", mode: 0o644, size, type: "x" }),
    ...records,
    tarPadding(size),
    headerOf({ ...entry, name: fits(name) ? name : "file", ...(fits(target) ? {} : { target: "" }) }),
  ]
}

/** The header of a file in a tar (POSIX.1-2001): no time and no owner, so that the same file always gives the same bytes. */
export const tarHeader = (path: string, size: number, executable: boolean): readonly Uint8Array[] =>
  described({ name: path, mode: executable ? 0o755 : 0o644, size, type: "0" })

/** A link in a tar; it has no content. */
export const tarLink = (path: string, target: string): readonly Uint8Array[] =>
  described({ name: path, mode: 0o777, size: 0, type: "2", target })
