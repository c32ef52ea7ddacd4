import { type BuilderFacts, mostPictureBytes, pictureTypeOf, templateTold } from "@rangewright/domain"
import type { ArtifactEntry } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** The metadata stored beside the files of a template, so that lists need not read them. A picture that is not an image is left out. */
export const toldOf = Effect.fnUntraced(function* (
  facts: Parameters<typeof templateTold>[0],
  picture: string | undefined,
  entries: readonly ArtifactEntry[],
) {
  const entry = entries.find(({ path }) => path === picture)
  const bytes = entry?.kind === "file" && entry.size <= mostPictureBytes ? yield* entry.read : undefined
  return templateTold(facts satisfies Partial<BuilderFacts>, bytes && pictureTypeOf(bytes) && picture)
})
