import * as Result from "effect/Result"
import { emulatorPackage, type NodePackage, type ObservedPackages, type PackageSet, type PackageVersion } from "./model.ts"

/** `unknown`: neither the operator's signature nor a repository of the node knows it, or nobody could look. */
export type PackagesState = "standard" | "custom" | "mixed" | "unknown"

const contains = ({ packages }: PackageSet, { name, version }: PackageVersion): boolean =>
  packages.some((one) => one.name === name && one.version === version)

const kindOf = (sets: readonly PackageSet[], one: NodePackage): Exclude<PackagesState, "mixed"> => {
  if (!one.settled) return "unknown"
  if (sets.some((set) => contains(set, one))) return "custom"
  return one.offered.includes(one.version) ? "standard" : "unknown"
}

/** One state for what consists of several. */
export const joinStates = (states: readonly PackagesState[]): PackagesState => {
  const has = (state: PackagesState): boolean => states.includes(state)
  if (has("mixed") || (has("standard") && has("custom"))) return "mixed"
  if (states.length === 0 || has("unknown")) return "unknown"
  return has("custom") ? "custom" : "standard"
}

/** The packages for a node: those built for what it has, or else those of which it has the emulator already. */
const setFor = (sets: readonly PackageSet[], { packages }: ObservedPackages): PackageSet | undefined => {
  const emulator = packages.find(({ name }) => name === emulatorPackage)
  if (emulator === undefined) return undefined
  return sets.find((set) => set.for === emulator.version) ?? sets.find((set) => contains(set, emulator))
}

/** What a node's packages are. A package that none is signed for, such as the firmware, stays standard on a node that is custom. */
export const judgePackages = (sets: readonly PackageSet[], node: ObservedPackages): PackagesState => {
  const set = setFor(sets, node)
  const kinds = node.packages.map((one) => [one, kindOf(sets, one)] as const)
  const patched = kinds.filter(([{ name }, kind]) => kind !== "standard" || set?.packages.some((one) => one.name === name))
  return joinStates((patched.length === 0 ? kinds : patched).map(([, kind]) => kind))
}

const packageText = ({ name, version, held, settled }: NodePackage): string =>
  `${name} ${version}${held ? ", held" : ""}${settled ? "" : ", half installed"}`

/** The packages of a node for people, on one line. */
export const packagesText = ({ packages }: ObservedPackages): string =>
  packages.length === 0 ? "it has no QEMU packages" : packages.map(packageText).join("; ")

/** The patched packages that a node has to get; undefined where it has all of them, held. Fails with the reason why there are none for it. */
export const packagesToInstall = (
  sets: readonly PackageSet[],
  node: ObservedPackages,
): Result.Result<PackageSet | undefined, string> => {
  const emulator = node.packages.find(({ name }) => name === emulatorPackage)
  if (emulator === undefined) return Result.fail(`it has no ${emulatorPackage}`)
  const set = setFor(sets, node)
  if (set === undefined)
    return Result.fail(
      `it has ${emulatorPackage} ${emulator.version}, and the signed packages are built for ${sets.map((one) => one.for).join(", ") || "none"}`,
    )
  const found = set.packages.map((wanted) => ({ wanted, there: node.packages.find(({ name }) => name === wanted.name) }))
  for (const { wanted, there } of found) {
    if (there === undefined) return Result.fail(`${wanted.name} is not installed there, so there is nothing to replace`)
    if (wanted.architecture !== node.architecture && wanted.architecture !== "all")
      return Result.fail(`it is ${node.architecture}, and the signed ${wanted.name} is built for ${wanted.architecture}`)
  }
  const isDone = found.every(({ wanted, there }) => there?.version === wanted.version && there.held && there.settled)
  return Result.succeed(isDone ? undefined : set)
}

/** The version that a patched one took the place of; several sets may follow each other. */
const before = (sets: readonly PackageSet[], one: PackageVersion): string | undefined => {
  if (one.name !== emulatorPackage) return undefined
  let version = one.version
  // each step leads to another set, or nowhere
  for (const _ of sets) {
    const set = sets.find((known) => contains(known, { name: one.name, version }))
    if (set === undefined) break
    version = set.for
  }
  return version === one.version ? undefined : version
}

/**
 * The versions that a node has to get so that all are standard and none is held; undefined where that is so. An emulator goes back to the version for
 * which the patched one was built, if a repository of the node still has it; all else gets the newest one.
 */
export const packagesToRestore = (
  sets: readonly PackageSet[],
  node: ObservedPackages,
): Result.Result<readonly PackageVersion[] | undefined, string> => {
  if (node.packages.length === 0) return Result.fail("it has no QEMU packages")
  const targets: PackageVersion[] = []
  for (const one of node.packages) {
    const isStandard = kindOf(sets, one) === "standard"
    if (isStandard && !one.held) continue
    const standard = one.offered.filter((version) => !sets.some((set) => contains(set, { name: one.name, version })))
    const last = before(sets, one)
    const target = isStandard ? one.version : (standard.find((version) => version === last) ?? standard[0])
    if (target === undefined) return Result.fail(`none of its repositories offers ${one.name}`)
    targets.push({ name: one.name, version: target })
  }
  return Result.succeed(targets.length === 0 ? undefined : targets)
}
