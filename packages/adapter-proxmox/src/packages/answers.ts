import {
  isArchitecture,
  isPackageVersion,
  isPatchable,
  type NodePackage,
  patchablePackages,
  type PackageVersion,
} from "@rangewright/domain"
import * as Result from "effect/Result"

/** A node's output as one line without terminal control sequences. */
export const saying = (text: string): string =>
  text
    .replaceAll(/\p{C}+/gu, " ")
    .trim()
    .slice(-400)

const linesOf = (text: string): readonly string[] => text.split("\n").filter((line) => line !== "")

/** For `dpkg-query --showformat`. */
export const packageFormat = "${Package}\\t${Version}\\t${db:Status-Abbrev}\\n"

/** Parses packages listed by `dpkg-query` in `packageFormat`, without those that are not installed. */
export const parsePackages = (listed: string): Result.Result<readonly Omit<NodePackage, "offered">[], string> => {
  const found: Omit<NodePackage, "offered">[] = []
  for (const line of linesOf(listed)) {
    const [name = "", version = "", status = "", ...more] = line.split("\t")
    const unclear = Result.fail(`dpkg-query printed an unexpected line: ${saying(line)}`)
    if (!isPatchable(name) || more.length > 0 || !/^[uihrp][nciuUFHWt][R ]?$/u.test(status)) return unclear
    // never installed, or only its configuration is left
    if (status[1] === "n" || status[1] === "c") continue
    if (!isPackageVersion(version) || found.some((one) => one.name === name)) return unclear
    found.push({ name, version, held: status[0] === "h", settled: status[1] === "i" && status[2] !== "R" })
  }
  return Result.succeed(found)
}

/** The versions that `apt-cache madison` lists, newest first, by package name. */
export const parseOffered = (listed: string): Result.Result<ReadonlyMap<string, readonly string[]>, string> => {
  const offered = new Map<string, readonly string[]>(patchablePackages.map((name) => [name, []]))
  for (const line of linesOf(listed)) {
    const [name = "", version = "", where = ""] = line.split(" | ").map((text) => text.trim())
    const known = offered.get(name)
    if (known === undefined || !isPackageVersion(version) || where === "")
      return Result.fail(`apt-cache printed an unexpected line: ${saying(line)}`)
    if (!known.includes(version) && known.length < 100) offered.set(name, [...known, version])
  }
  return Result.succeed(offered)
}

export const parseArchitecture = (text: string): Result.Result<string, string> =>
  isArchitecture(text.trim())
    ? Result.succeed(text.trim())
    : Result.fail(`dpkg printed an unexpected architecture: ${saying(text)}`)

/**
 * Why what `apt-get --simulate` would do is not exactly these versions; undefined when it is. Which packages stay as they are does not
 * matter.
 */
export const simulationProblem = (said: string, wanted: readonly PackageVersion[]): string | undefined => {
  for (const line of linesOf(said)) {
    const [, act, name = "", rest = ""] = /^(Inst|Remv|Purg) (\S+)(\s.*)?$/u.exec(line) ?? []
    if (act === undefined) continue
    const [plain = ""] = name.split(":")
    const version = wanted.find((one) => one.name === plain)?.version
    if (version === undefined || act !== "Inst")
      return `apt would also ${act === "Inst" ? "install" : "remove"} ${saying(name)}, which was not requested`
    if (!rest.includes(`(${version} `)) return `apt would install another version than ${version}: ${saying(line)}`
  }
  return undefined
}
