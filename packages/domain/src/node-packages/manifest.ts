import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { readJsonText, Sha256 } from "../subscription/read-json.ts"
import { emulatorPackage, isArchitecture, isPackageVersion, type PackageSet, patchablePackages } from "./model.ts"

/** Limits of a folder of patched packages. */
export const packageLimits = { sets: 64, bytes: 256 * 1024 * 1024, manifestBytes: 256 * 1024 } as const

const textOf = (is: (text: string) => boolean, what: string) =>
  Schema.String.check(Schema.makeFilter((text: string) => (is(text) ? undefined : `it must be ${what}`)))

const Version = textOf(isPackageVersion, "the version of a package")

const WirePackage = Schema.Struct({
  name: Schema.Literals(patchablePackages),
  version: Version,
  architecture: textOf(isArchitecture, "the name of an architecture"),
  bytes: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: packageLimits.bytes })),
  sha256: Sha256,
})

const WireManifest = Schema.Struct({
  sets: Schema.Array(
    Schema.Struct({
      for: Version,
      packages: Schema.Array(WirePackage).check(Schema.isMinLength(1), Schema.isMaxLength(patchablePackages.length)),
    }),
  ).check(Schema.isMinLength(1), Schema.isMaxLength(packageLimits.sets)),
})

const twice = (texts: readonly string[]): string | undefined => texts.find((text, i) => texts.indexOf(text) < i)

const problemOf = (sets: readonly PackageSet[]): string | undefined => {
  const twin = twice(sets.map((set) => set.for))
  if (twin !== undefined) return `it has packages for ${twin} twice`
  for (const { for: version, packages } of sets) {
    const name = twice(packages.map((one) => one.name))
    if (name !== undefined) return `it lists ${name} for ${version} twice`
    if (packages.some((one) => one.name === emulatorPackage && one.version === version))
      return `a patched ${emulatorPackage} must have a version of its own, and not ${version}, for which it is built`
  }
  return undefined
}

/** Parses the text that the operator signs; fails with the problem. */
export const readPackageSets = (text: string): Result.Result<readonly PackageSet[], string> =>
  Result.flatMap(readJsonText(WireManifest, text), ({ sets }) => {
    const problem = problemOf(sets)
    return problem === undefined ? Result.succeed(sets) : Result.fail(problem)
  })

/** Writes the sets as text; reading it gives the same sets. */
export const writePackageSets = (sets: readonly PackageSet[]): string => JSON.stringify({ sets })
