import { templateStates } from "@rangewright/domain"
import * as Schema from "effect/Schema"

/** Ours: `missing`, if the caller has nothing to build it from. */
export const TemplateStatus = Schema.Literals([...templateStates, "missing"])

/** A template that a blueprint needs. */
export const TemplateStatusEntry = Schema.Struct({
  name: Schema.String,
  built: Schema.Boolean,
  status: TemplateStatus,
}).annotate({ identifier: "TemplateStatusEntry" })
