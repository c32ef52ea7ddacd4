import type { BuilderFacts } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Reads builder files of templates. Strangers write them, so this is done apart from everything else and within limits. */
export class BuilderFiles extends Context.Service<
  BuilderFiles,
  {
    /**
     * What a builder file says, in HCL or, by the ending of its path, in JSON. The same content is read once. A text that cannot be read within
     * the limits says nothing, as one that is neither.
     */
    readonly read: (path: string, text: string) => Effect.Effect<BuilderFacts>
  }
>()("rangewright/BuilderFiles") {}
