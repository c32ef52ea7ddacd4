import * as Result from "effect/Result"
import {
  type BrokenItem,
  compareNames,
  directoryName,
  type ItemKind,
  type ShippedBlueprint,
  type ShippedRole,
  type SourceContent,
  type SourceManifest,
} from "./content.ts"
import { checkPaths, type SourceFiles } from "./files.ts"
import { cutIssues, type Issues, type SourceIssue, tellOfFile, tellOfText } from "./issue.ts"
import { layOut } from "./layout.ts"
import { checkManifestVersion, type Fields, present, textField, textList } from "./manifest.ts"
import { foldName } from "./names.ts"
import { readBlueprints } from "./read-blueprints.ts"
import { atOnce, type InParts, readFile, type Reading, type ReadItems } from "./reading.ts"
import { readCollections, readRoles, readTemplates } from "./read-artifacts.ts"

export interface ReadSource {
  readonly content: SourceContent
  /** Entries that are ignored or have no effect, and problems of single items. */
  readonly warnings: ReadonlyArray<SourceIssue>
}

/**
 * Reads what a source ships from one fetched state, which must include the texts that `neededTexts` named. Invalid items end up in
 * `broken`. Fails with everything for which the whole source must be refused: unsafe or colliding paths, an invalid source manifest, no
 * items, or no valid item.
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
  const manifest = readSourceManifest(reading)
  const blueprints = yield* readBlueprints(reading)
  const templates = withoutTwins(issues, "template", yield* readTemplates(reading))
  const roles = withoutTwins(issues, "role", yield* readRoles(reading))
  const collections = withoutTwins(issues, "collection", yield* readCollections(reading))
  const all = [blueprints, templates, roles, collections]
  const errors = all.flatMap((read) => read.errors)
  if (all.every(({ items, broken }) => items.length + broken.length === 0))
    tellOfFile(issues, "error", ".", {
      code: "nothing-shipped",
      message: "the source ships nothing",
      allowed: "at least one item in blueprints/, templates/, ansible/roles/ or ansible/collections/",
    })
  else if (all.every(({ items }) => items.length === 0)) issues.errors.push(...errors)
  if (issues.errors.length > 0) return Result.fail(cutIssues(issues.errors))
  tellOfFolderNames(issues, blueprints.items, roles.items)
  const content: SourceContent = {
    manifest,
    blueprints: blueprints.items.toSorted((a, b) => compareNames(a.id, b.id)),
    templates: byName(templates.items),
    roles: byName(roles.items),
    collections: byName(collections.items),
    broken: byName(all.flatMap(({ broken }) => broken)),
  }
  const told = errors.map((issue): SourceIssue => ({ ...issue, severity: "warning" }))
  return Result.succeed({ content, warnings: cutIssues([...issues.warnings, ...told]) })
}

const byName = <T extends { readonly name: string }>(items: ReadonlyArray<T>): ReadonlyArray<T> =>
  items.toSorted((a, b) => compareNames(a.name, b.name))

/** An error here refuses the source, because it affects everything the source ships. */
const readSourceManifest = (reading: Reading): SourceManifest => {
  const path = reading.layout.manifest
  const file = path === undefined ? undefined : readFile(reading, path, "error")
  if (path === undefined || file === undefined) return { authors: [] }
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
  tellOfText(reading.issues, path, file.text, fields.findings)
  return manifest
}

/** A role is installed only under its canonical name. The catalog also resolves its folder's name, but a deploy does not. */
const tellOfFolderNames = (
  issues: Issues,
  blueprints: ReadonlyArray<ShippedBlueprint>,
  roles: ReadonlyArray<ShippedRole>,
): void => {
  const canonical = new Map(roles.map(({ name, directory }) => [directoryName(directory), name]))
  for (const { name } of roles) canonical.delete(name)
  for (const { config, references } of blueprints)
    for (const role of references.roles) {
      const name = canonical.get(role)
      if (name !== undefined)
        tellOfFile(issues, "warning", config.path, {
          code: "role-by-folder",
          message: `names the role ${role} by its folder: ranges refuse it until it says ${name}, the name that the role is installed under`,
          allowed: name,
        })
    }
}

/**
 * Items of the same name would be installed into the same folder: the first one by directory keeps the name, the others cannot be
 * installed.
 */
const withoutTwins = <T extends { readonly name: string; readonly directory: string }>(
  issues: Issues,
  kind: ItemKind,
  { items, broken, errors }: ReadItems<T>,
): ReadItems<T> => {
  const first = new Map<string, T>()
  const twins: Array<BrokenItem> = []
  for (const item of items) {
    const other = first.get(foldName(item.name))
    if (other === undefined) first.set(foldName(item.name), item)
    else {
      const { name, directory } = item
      const message = `two ${kind}s are called ${name}, and the one in ${other.directory} keeps the name`
      tellOfFile(issues, "warning", directory, { code: "repeated-name", message, allowed: "names that differ in more than case" })
      twins.push({ kind, name, directory, state: "conflict", problem: `${directory}: ${message}` })
    }
  }
  return { items: [...first.values()], broken: [...broken, ...twins], errors }
}
