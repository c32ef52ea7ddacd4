import { type BuilderFacts, mostPictureBytes, pictureTypeOf, templateTold } from "@rangewright/domain"
import type { ArtifactEntry } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** What is kept beside the files of a template, so that lists need not read them. A file that is no picture is not kept as one. */
export const toldOf = Effect.fnUntraced(function* (
  facts: Parameters<typeof templateTold>[0],
  picture: string | undefined,
  entries: readonly ArtifactEntry[],
) {
  const entry = entries.find(({ path }) => path === picture)
  const bytes = entry?.kind === "file" && entry.size <= mostPictureBytes ? yield* entry.read : undefined
  return templateTold(facts satisfies Partial<BuilderFacts>, bytes && pictureTypeOf(bytes) && picture)
})
