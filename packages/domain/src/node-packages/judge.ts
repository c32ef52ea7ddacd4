import * as Result from "effect/Result"
import { emulatorPackage, type NodePackage, type ObservedPackages, type PackageSet, type PackageVersion } from "./model.ts"

/** `unknown`: the version is in neither the signed packages nor the node's repositories, or could not be read. */
export type PackagesState = "standard" | "custom" | "mixed" | "unknown"

const contains = ({ packages }: PackageSet, { name, version }: PackageVersion): boolean =>
  packages.some((one) => one.name === name && one.version === version)

const kindOf = (sets: readonly PackageSet[], one: NodePackage): Exclude<PackagesState, "mixed"> => {
  if (!one.settled) return "unknown"
  if (sets.some((set) => contains(set, one))) return "custom"
  return one.offered.includes(one.version) ? "standard" : "unknown"
}

/** Combines several states into one. */
export const joinStates = (states: readonly PackagesState[]): PackagesState => {
  const has = (state: PackagesState): boolean => states.includes(state)
  if (has("mixed") || (has("standard") && has("custom"))) return "mixed"
  if (states.length === 0 || has("unknown")) return "unknown"
  return has("custom") ? "custom" : "standard"
}

/** The package set for a node: the one built for its emulator's version, or else the one that contains it. */
const setFor = (sets: readonly PackageSet[], { packages }: ObservedPackages): PackageSet | undefined => {
  const emulator = packages.find(({ name }) => name === emulatorPackage)
  if (emulator === undefined) return undefined
  return sets.find((set) => set.for === emulator.version) ?? sets.find((set) => contains(set, emulator))
}

/**
 * The state of a node's packages. A package without a signed counterpart, such as the firmware, does not count on a node with patched
 * packages, as long as it is standard.
 */
export const judgePackages = (sets: readonly PackageSet[], node: ObservedPackages): PackagesState => {
  const set = setFor(sets, node)
  const kinds = node.packages.map((one) => [one, kindOf(sets, one)] as const)
  const patched = kinds.filter(([{ name }, kind]) => kind !== "standard" || set?.packages.some((one) => one.name === name))
  return joinStates((patched.length === 0 ? kinds : patched).map(([, kind]) => kind))
}

const packageText = ({ name, version, held, settled }: NodePackage): string =>
  `${name} ${version}${held ? ", held" : ""}${settled ? "" : ", half installed"}`

/** The packages of a node for display, on one line. */
export const packagesText = ({ packages }: ObservedPackages): string =>
  packages.length === 0 ? "it has no QEMU packages" : packages.map(packageText).join("; ")

/** The patched packages to install on a node; undefined if it has all of them, held. Fails with the reason if no set is suitable. */
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

/** The version that a patched package replaced; follows chains of several sets. */
const before = (sets: readonly PackageSet[], one: PackageVersion): string | undefined => {
  if (one.name !== emulatorPackage) return undefined
  let version = one.version
  // bounded by the number of sets, because a chain may loop
  for (const _ of sets) {
    const set = sets.find((known) => contains(known, { name: one.name, version }))
    if (set === undefined) break
    version = set.for
  }
  return version === one.version ? undefined : version
}

/**
 * The versions to install on a node so that all packages are standard and none is held; undefined if that is so already. An emulator
 * returns to the version that the patched one was built for, if a repository of the node still has it; everything else gets the newest
 * standard version.
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
