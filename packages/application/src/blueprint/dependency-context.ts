import {
  type Blueprint,
  type BlueprintText,
  emptyContent,
  type Fault,
  readReferences,
  readRequirements,
  type ShippedBlueprint,
  type SourceContent,
  type TreeEntry,
} from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { bundleDirectory } from "../source/install-blueprint.ts"
import { SourceContents } from "../source/source-contents.ts"

/** The content that a blueprint was shipped with. */
export interface Surroundings {
  /** Its ID in that content. */
  readonly id: string
  readonly content: SourceContent
  readonly files?: readonly TreeEntry[]
}

/**
 * The content of its source when the blueprint was installed, also for copies of it; empty for a blueprint that was made here or imported
 * from an archive.
 */
export const dependencyContextOf = Effect.fnUntraced(function* (
  blueprint: Blueprint,
): Effect.fn.Return<Surroundings, Fault, SourceContents> {
  const contents = yield* SourceContents
  const { bundle } = blueprint
  const root = bundleDirectory("")
  if (bundle === undefined || !bundle.directory.startsWith(root)) return { id: blueprint.id, content: emptyContent }
  const { content, snapshot } = yield* contents.ofId(bundle.snapshot)
  return { id: bundle.directory.slice(root.length), content, files: snapshot.files }
})

/** A blueprint in the form in which sources ship them. */
export const asShipped = (
  id: string,
  { name, version, tags }: Pick<BlueprintText, "name" | "version" | "tags">,
  config: string,
  requirements: string | undefined,
): ShippedBlueprint => {
  const references = readReferences(config)
  return {
    id,
    name,
    version,
    tags,
    config: { path: "", text: config },
    references: Result.isSuccess(references) ? references.success : { templates: [], roles: [] },
    requirements: readRequirements(requirements ?? "").requirements,
  }
}
