/** Sources written down as path and text, for tests. */
import * as Result from "effect/Result"
import { type ReadSource, readSource, type SourceFiles, type SourceIssue } from "../src/source/index.ts"

export type Tree = Readonly<Record<string, string>>

/** A tree with a text for each file. */
export const filesOf = (tree: Tree): SourceFiles => ({
  entries: Object.keys(tree).map((path) => ({ path, kind: "file" })),
  texts: new Map(Object.entries(tree)),
})

export const blueprint = (id: string, more = ""): string =>
  `id: ${id}\nname: The ${id}\nversion: 1.0.0\nconfig: range-config.yml\n${more}`

export const config = (template: string, roles: ReadonlyArray<string> = []): string =>
  `ludus:\n  - vm_name: a\n    template: ${template}\n    roles: [${roles.join(", ")}]\n`

/** A source with one blueprint, so that everything else in it may be missing. */
export const withBlueprint = (tree: Tree = {}): SourceFiles =>
  filesOf({
    "blueprints/lab/blueprint.yml": blueprint("lab"),
    "blueprints/lab/range-config.yml": config("debian"),
    ...tree,
  })

export const readOf = (files: SourceFiles): ReadSource => {
  const read = readSource(files)
  if (Result.isFailure(read)) throw new Error(`the source was refused: ${JSON.stringify(read.failure)}`)
  return read.success
}

/** The issues for which a source is refused; none: it is not. */
export const refusalsOf = (files: SourceFiles): ReadonlyArray<SourceIssue> => {
  const read = readSource(files)
  return Result.isFailure(read) ? read.failure : []
}

/** Codes of the refusals with their files. */
export const refusedAs = (files: SourceFiles): ReadonlyArray<string> =>
  refusalsOf(files).map(({ file, code }) => `${file} ${code}`)

/** Of a source that is read: what is said of it, as files and codes. */
export const toldOf = (files: SourceFiles): ReadonlyArray<string> =>
  readOf(files).warnings.map(({ file, code }) => `${file} ${code}`)

/** Of a source that is read: what nobody can install of it. */
export const brokenIn = (files: SourceFiles): ReadonlyArray<string> =>
  readOf(files).content.broken.map(({ kind, name, state }) => `${kind} ${name} ${state}`)
