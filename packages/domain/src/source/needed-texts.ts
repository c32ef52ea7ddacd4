import * as Result from "effect/Result"
import { blueprintManifestOf } from "./blueprint.ts"
import type { SourceFiles } from "./files.ts"
import { checkPaths } from "./files.ts"
import { layOut } from "./layout.ts"
import { readManifest } from "./manifest.ts"
import { atOnce, type InParts, readEach } from "./reading.ts"

/**
 * The files whose texts `readSource` still needs, in order and unique. Manifests come first, and once their texts are present, the
 * configurations that they name: call again until the result is empty. Never names a link or an unsafe path.
 */
export const neededTexts = (files: SourceFiles): ReadonlyArray<string> => atOnce(neededTextsInParts(files))

/** The same with a pause after each manifest. */
export function* neededTextsInParts(files: SourceFiles): InParts<ReadonlyArray<string>> {
  const issues = { errors: [], warnings: [] }
  checkPaths(issues, files.entries)
  if (issues.errors.length > 0) return []
  const layout = layOut(files.entries)
  const regular = new Set(files.entries.filter(({ kind }) => kind === "file").map(({ path }) => path))
  const configs = yield* readEach(layout.blueprints, ({ manifest, directory }) => configOf(files.texts.get(manifest), directory))
  const wanted = [
    layout.manifest,
    ...layout.blueprints.flatMap(({ manifest, requirements }) => [manifest, requirements]),
    ...configs,
    ...layout.templates.map(({ builders }) => builders[0]),
    ...layout.roles.flatMap(({ metadata, version }) => [metadata, version]),
    ...layout.collections.map(({ metadata }) => metadata),
  ]
  return [...new Set(wanted.filter((path) => path !== undefined))].filter((path) => regular.has(path) && !files.texts.has(path))
}

const configOf = (manifest: string | undefined, directory: string): string | undefined => {
  if (manifest === undefined) return undefined
  const read = Result.flatMap(readManifest(manifest), (root) => blueprintManifestOf(root, directory))
  return Result.isSuccess(read) ? read.success.config : undefined
}
