import * as Result from "effect/Result"
import { compareNames, directoryName, type SourceContent, type SourceManifest } from "./content.ts"
import { checkPaths, type SourceFiles } from "./files.ts"
import { cutIssues, type Issues, type SourceIssue, tellOfFile, tellOfText } from "./issue.ts"
import { layOut } from "./layout.ts"
import { checkManifestVersion, type Fields, present, textField, textList } from "./manifest.ts"
import { foldName } from "./names.ts"
import { readBlueprints } from "./read-blueprints.ts"
import { atOnce, type InParts, readFile, type Reading } from "./reading.ts"
import { readCollections, readRoles, readTemplates } from "./read-artifacts.ts"

export interface ReadSource {
  readonly content: SourceContent
  /** What is not read, or has no effect. */
  readonly warnings: ReadonlyArray<SourceIssue>
}

/**
 * Reads what a source ships from one fetched state of it, which must hold the texts that `neededTexts` asked for. Fails with everything
 * for which the source must be refused: paths and names that are unsafe or too much alike, manifests that are wrong, nothing shipped.
 */
export const readSource = (files: SourceFiles): Result.Result<ReadSource, ReadonlyArray<SourceIssue>> =>
  atOnce(readSourceInParts(files))

/** The same with a pause after each blueprint, template, role and collection: a large source takes seconds. */
export function* readSourceInParts(files: SourceFiles): InParts<Result.Result<ReadSource, ReadonlyArray<SourceIssue>>> {
  const issues: Issues = { errors: [], warnings: [] }
  checkPaths(issues, files.entries)
  if (issues.errors.length > 0) return Result.fail(cutIssues(issues.errors))
  const layout = layOut(files.entries)
  const present = new Set(files.entries.filter(({ kind }) => kind === "file").map(({ path }) => path))
  const reading: Reading = { files, layout, present, issues }
  for (const { path, reason } of layout.ignored)
    tellOfFile(issues, "warning", path, { code: "ignored", message: `is not read: ${reason}` })
  const content: SourceContent = {
    manifest: readSourceManifest(reading),
    blueprints: (yield* readBlueprints(reading)).toSorted((a, b) => compareNames(a.id, b.id)),
    templates: byName(yield* readTemplates(reading)),
    roles: byName(yield* readRoles(reading)),
    collections: byName(yield* readCollections(reading)),
  }
  checkNames(issues, "templates", content.templates)
  checkNames(issues, "roles", content.roles)
  checkNames(issues, "collections", content.collections)
  const { blueprints, templates, roles, collections } = layout
  if ([blueprints, templates, roles, collections].every((places) => places.length === 0))
    tellOfFile(issues, "error", ".", {
      code: "nothing-shipped",
      message: "the source ships nothing",
      allowed: "something in blueprints/, templates/, ansible/roles/ or ansible/collections/",
    })
  return issues.errors.length > 0
    ? Result.fail(cutIssues(issues.errors))
    : Result.succeed({ content, warnings: cutIssues(issues.warnings) })
}

const byName = <T extends { readonly name: string }>(items: ReadonlyArray<T>): ReadonlyArray<T> =>
  items.toSorted((a, b) => compareNames(a.name, b.name))

const readSourceManifest = (reading: Reading): SourceManifest => {
  const file = reading.layout.manifest === undefined ? undefined : readFile(reading, reading.layout.manifest, "error")
  if (reading.layout.manifest === undefined || file === undefined) return { authors: [] }
  const fields: Fields = { map: file.root, path: [], findings: [] }
  checkManifestVersion(fields)
  const manifest: SourceManifest = {
    authors: textList(fields, "authors"),
    ...present({
      name: textField(fields, "name"),
      description: textField(fields, "description"),
      homepage: textField(fields, "homepage"),
      license: textField(fields, "license"),
    }),
  }
  tellOfText(reading.issues, reading.layout.manifest, file.text, fields.findings)
  return manifest
}

/** Two things of one name would be installed into one folder. */
const checkNames = (
  issues: Issues,
  what: string,
  items: ReadonlyArray<{ readonly name: string; readonly directory: string }>,
): void => {
  const first = new Map<string, string>()
  for (const { name, directory } of items) {
    const other = first.get(foldName(name))
    if (other === undefined) first.set(foldName(name), directory)
    else {
      const message = `two ${what} are called ${name}: the one in ${directoryName(other)} too`
      tellOfFile(issues, "error", directory, { code: "repeated-name", message, allowed: "names that differ in more than case" })
    }
  }
}
