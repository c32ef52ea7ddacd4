import type { BuilderFacts } from "@rangewright/domain"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** Reads builder files of templates. They are untrusted, so they are parsed in isolation and within limits. */
export class BuilderFiles extends Context.Service<
  BuilderFiles,
  {
    /**
     * The facts in a builder file, in HCL or, by its extension, JSON. Each content is parsed once. A text that is malformed or exceeds the
     * limits gives empty facts.
     */
    readonly read: (path: string, text: string) => Effect.Effect<BuilderFacts>
  }
>()("rangewright/BuilderFiles") {}
