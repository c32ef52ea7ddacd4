/**
 * Versions of sources, roles and collections: one, two or three numbers, with an optional leading `v`; a pre-release and build metadata
 * only after three numbers. Numbers may have any length.
 */

/** A parsed version; without build metadata, which is not compared. */
export interface Version {
  /** Major, minor and patch as digits without leading zeros; missing ones are `0`. */
  readonly numbers: readonly [string, string, string]
  /** Pre-release identifiers; empty for a release. */
  readonly prerelease: ReadonlyArray<string>
}

const number = "(0|[1-9][0-9]*)"
const form = new RegExp(`^v?${number}(?:\\.${number}(?:\\.${number}(?:-([0-9A-Za-z.-]+))?(?:\\+([0-9A-Za-z.-]+))?)?)?$`, "u")
const digits = /^[0-9]+$/u
const longest = 256

/** Parses a version; undefined if it is not one. */
export const parseVersion = (text: string): Version | undefined => {
  const parts = text.length > longest ? null : form.exec(text)
  if (parts === null) return undefined
  const [, major = "0", minor = "0", patch = "0", before, build] = parts
  const prerelease = before === undefined ? [] : before.split(".")
  if (prerelease.some((part) => part === "" || (digits.test(part) && part.length > 1 && part.startsWith("0")))) return undefined
  if (build !== undefined && build.split(".").includes("")) return undefined
  return { numbers: [major, minor, patch], prerelease }
}

/** Negative if `a` comes before `b`, positive if after, zero if they are the same version. */
export const compareVersions = (a: Version, b: Version): number => {
  for (let at = 0; at < 3; at += 1) {
    const order = compareDigits(a.numbers[at] ?? "0", b.numbers[at] ?? "0")
    if (order !== 0) return order
  }
  return comparePrereleases(a.prerelease, b.prerelease)
}

const compareDigits = (a: string, b: string): number => a.length - b.length || compareText(a, b)
const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** A pre-release comes before its release, numbers before words, and a prefix before the longer one. */
const comparePrereleases = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): number => {
  if (a.length === 0 || b.length === 0) return b.length - a.length
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const order = compareIdentifiers(a[at] ?? "", b[at] ?? "")
    if (order !== 0) return order
  }
  return a.length - b.length
}

const compareIdentifiers = (a: string, b: string): number => {
  const [first, second] = [digits.test(a), digits.test(b)]
  if (first && second) return compareDigits(a, b)
  if (first !== second) return first ? -1 : 1
  return compareText(a, b)
}

const comparisons: ReadonlyMap<string, (order: number) => boolean> = new Map([
  [">=", (order: number) => order >= 0],
  ["<=", (order: number) => order <= 0],
  ["==", (order: number) => order === 0],
  ["!=", (order: number) => order !== 0],
  [">", (order: number) => order > 0],
  ["<", (order: number) => order < 0],
])
const operators = [...comparisons.keys()]

/**
 * Whether a version satisfies a pin: an optional operator (`>=`, `<=`, `==`, `!=`, `>`, `<`; default `==`) and a version. If either is not
 * a version (a branch, `*`, several conditions), only `==` with the same text matches.
 */
export const satisfiesPin = (version: string, pin: string): boolean => {
  const operator = operators.find((candidate) => pin.startsWith(candidate))
  const wanted = (operator === undefined ? pin : pin.slice(operator.length)).trim()
  const [have, want] = [parseVersion(version), parseVersion(wanted)]
  const relation = operator ?? "=="
  if (have === undefined || want === undefined) return relation === "==" && version === wanted
  return comparisons.get(relation)?.(compareVersions(have, want)) ?? false
}
