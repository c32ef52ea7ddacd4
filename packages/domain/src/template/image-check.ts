/** Checks of a disc image that do not require downloading it. */

export const checksumTypes = ["md5", "sha1", "sha256", "sha512"] as const
export type ChecksumType = (typeof checksumTypes)[number]

/** An image's checksum as specified in a builder file. */
export type Checksum =
  | { readonly kind: "sum"; readonly type: ChecksumType; readonly sum: string }
  /** Listed in the file at this URL. */
  | { readonly kind: "list"; readonly url: string }
  /** The author disabled the check. */
  | { readonly kind: "none" }
  | { readonly kind: "unreadable" }

const byLength: ReadonlyMap<number, ChecksumType> = new Map([
  [32, "md5"],
  [40, "sha1"],
  [64, "sha256"],
  [128, "sha512"],
])

export const readChecksum = (text: string | undefined): Checksum => {
  if (text === undefined) return { kind: "unreadable" }
  if (text === "none") return { kind: "none" }
  if (text.startsWith("file:")) {
    const url = text.slice("file:".length)
    return /^https?:\/\//u.test(url) ? { kind: "list", url } : { kind: "unreadable" }
  }
  const sum = text.slice(text.indexOf(":") + 1).toLowerCase()
  const type = byLength.get(sum.length)
  const named = text.includes(":") ? text.slice(0, text.indexOf(":")).toLowerCase() : type
  return type !== undefined && named === type && /^[0-9a-f]+$/u.test(sum) ? { kind: "sum", type, sum } : { kind: "unreadable" }
}

/** The folder in a URL, with a trailing slash, and the file in it, without query and fragment. */
const partsOf = (url: string): { readonly folder: string; readonly file: string } | undefined => {
  const [, folder, file] = /^([a-z][a-z\d+.-]*:\/\/[^/?#\s]*\/(?:[^/?#\s]*\/)*)([^/?#\s]+)(?:[?#]\S*)?$/iu.exec(url) ?? []
  return folder === undefined || file === undefined ? undefined : { folder, file }
}

/** The last part of a URL's path. */
export const fileNameIn = (url: string): string | undefined => {
  const file = partsOf(url)?.file
  try {
    return file === undefined ? undefined : decodeURIComponent(file)
  } catch {
    return file
  }
}

/**
 * The checksums of a file in a list: lines `SUM  NAME` and `SUM *NAME` as written by sha256sum, `SHA256 (NAME) = SUM` as in BSD, or a
 * single checksum alone. Runs in linear time.
 */
export const sumsOf = (list: string, name: string): readonly string[] => {
  const sums: string[] = []
  const lines = list.split(/\r?\n/u)
  const alone = lines.filter((line) => line.trim() !== "")
  for (const line of lines) {
    const [, sum = "", of = ""] = /^([0-9a-fA-F]{32,128})[ \t]+\*?(\S.*)$/u.exec(line.trimEnd()) ?? []
    const [, ofBsd = "", sumBsd = ""] = /^\w+ \((.+)\) = ([0-9a-fA-F]{32,128})$/u.exec(line.trim()) ?? []
    if (of.replace(/^.*\//u, "") === name) sums.push(sum.toLowerCase())
    if (ofBsd.replace(/^.*\//u, "") === name) sums.push(sumBsd.toLowerCase())
  }
  const [only = ""] = alone
  if (alone.length === 1 && /^[0-9a-fA-F]{32,128}$/u.test(only.trim())) sums.push(only.trim().toLowerCase())
  return sums
}

/** The usual URLs of an image's checksums next to it, in the order to try them. */
export const listsBeside = (url: string, type: ChecksumType): readonly string[] => {
  const parts = partsOf(url)
  if (parts === undefined) return []
  const { folder, file } = parts
  return [`${type.toUpperCase()}SUMS`, `${file}.${type}`, "CHECKSUM"].map((list) => folder + list)
}

/** Evaluation period in days of a Windows image, by its file name; undefined if the name does not indicate an evaluation version. */
export const evaluationDays = (url: string): number | undefined => {
  const name = (fileNameIn(url) ?? "").toLowerCase()
  if (!/eval/u.test(name)) return undefined
  return /client|enterprise|win(?:dows)?[-_. ]?1[01]/u.test(name) && !name.includes("server") ? 90 : 180
}
