import { type Blueprint, homepageOf, type Source } from "@rangewright/domain"
import type { SourceClaim } from "@rangewright/ports"
import * as Schema from "effect/Schema"
import { TemplateStatus } from "./needed-template.ts"

const optionalText = Schema.optionalKey(Schema.String)
const optionalTexts = Schema.optionalKey(Schema.Array(Schema.String))

/** A blueprint that was installed from a source; empty members are left out. */
export const SourceBlueprintListItem = Schema.Struct({
  id: Schema.String,
  sourceID: Schema.String,
  sourceBlueprintID: Schema.String,
  name: Schema.String,
  description: optionalText,
  version: optionalText,
  authors: optionalTexts,
  homepage: optionalText,
  license: optionalText,
  tags: optionalTexts,
  min_ludus_version: optionalText,
}).annotate({ identifier: "SourceBlueprintListItem" })

/** An item that was installed from a source; the version if known. */
export const ListSourceItem = Schema.Struct({ name: Schema.String, version: optionalText }).annotate({
  identifier: "ListSourceItem",
})

/** A template whose files were installed from a source. */
export const ListSourceTemplatesItem = Schema.Struct({
  name: Schema.String,
  version: optionalText,
  status: TemplateStatus,
}).annotate({ identifier: "ListSourceTemplatesItem" })

/** A role that was installed from a source: shipped in it, or required by its blueprints from elsewhere. */
export const ListSourceRolesResponseItem = Schema.Struct({
  name: Schema.String,
  version: optionalText,
  scope: Schema.Literals(["local", "galaxy"]),
}).annotate({ identifier: "ListSourceRolesResponseItem" })

/** Publisher and licence are those of the source. */
export const sourceBlueprintItem = (
  source: Source,
  sourceBlueprintID: string,
  blueprint: Blueprint,
): typeof SourceBlueprintListItem.Type => ({
  id: blueprint.id,
  sourceID: source.id,
  sourceBlueprintID,
  name: blueprint.name,
  ...(blueprint.description === "" ? {} : { description: blueprint.description }),
  ...(blueprint.version === "" ? {} : { version: blueprint.version }),
  ...(source.authors.length === 0 ? {} : { authors: source.authors }),
  ...(homepageOf(source) === "" ? {} : { homepage: homepageOf(source) }),
  ...(source.license === "" ? {} : { license: source.license }),
  ...(blueprint.tags.length === 0 ? {} : { tags: blueprint.tags }),
  ...(blueprint.minVersion === "" ? {} : { min_ludus_version: blueprint.minVersion }),
})

export const sourceItem = ({ name, version }: Pick<SourceClaim, "name" | "version">): typeof ListSourceItem.Type => ({
  name,
  ...(version === "" ? {} : { version }),
})
