import { blueprintTextIssues, InvalidInput, mostPictureBytes, NotFound } from "@rangewright/domain"
import { Blueprints } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { ownBlueprint } from "../../blueprint/find-blueprint.ts"
import { keepingParts } from "../../blueprint/keep-blueprint.ts"
import { uploadedPicture } from "../../blueprint/picture.ts"
import { recordIds } from "../../blueprint/record-ids.ts"
import { operation } from "../../operation/operation.ts"
import { blueprintFields, blueprintText } from "../../wire/blueprint.ts"
import { blueprintRecord, BlueprintRecord } from "../../wire/blueprint-record.ts"
import { keptFields, withoutKept } from "./kept-fields.ts"

/** Hides whether a record exists from those who may not change it. */
const notFound = () => Effect.fail(new NotFound({ what: "The requested resource wasn't found." }))

/** The last ones are paths in Ludus, where they let owners read and delete any file: no record here has them. */
const kept = {
  ...Struct.pick(BlueprintRecord.fields, [
    "id",
    "blueprintID",
    "owner",
    "sharedUsers",
    "sharedGroups",
    "source",
    "sourceBlueprintID",
  ]),
  blueprintDirPath: Schema.Unknown,
  config_path: Schema.Unknown,
  blueprint_path: Schema.Unknown,
  requirements_yaml: Schema.Unknown,
}
const elsewhere = {
  sharedUsers: "POST and DELETE /blueprints/{blueprintID}/share/users",
  sharedGroups: "POST and DELETE /blueprints/{blueprintID}/share/groups",
}

/** Changes a blueprint's description of itself. */
export const recordUpdateBlueprint = operation({
  id: "recordUpdateBlueprint",
  route: "PATCH /api/collections/blueprints/records/{id}",
  base: "/",
  group: "Blueprint",
  origin: "page",
  does: "change the description of a blueprint",
  summary: "Change the description of a blueprint, and its picture",
  access: "user",
  accessNote: "its owner and administrators",
  target: "none",
  path: { id: Schema.String },
  body: {
    type: "json-or-multipart",
    required: true,
    schema: Schema.Struct({ ...blueprintFields, thumbnail: Schema.optionalKey(Schema.String), ...keptFields(kept) }),
    file: "thumbnail",
    maxBytes: mostPictureBytes,
    emptyTexts: true,
  },
  output: { type: "json", schema: BlueprintRecord },
  statuses: {
    200: "the blueprint as it is now",
    400: "a field is not valid, or cannot be changed here; the picture is not one",
    413: "the form is too large",
    401: "no valid credentials",
    403: "the picture is more than the owner of the blueprint may keep on the service's host",
    404: "no such record, or not the caller's to change",
  },
  handle: ({ path, body, file, user }) =>
    Effect.gen(function* () {
      const blueprints = yield* Blueprints
      const blueprint = yield* ownBlueprint(path.id, user, "change").pipe(
        Effect.catchTags({ BlueprintNotFound: notFound, Forbidden: notFound }),
      )
      // only the record ID is accepted here
      if (blueprint.recordId !== path.id) return yield* notFound()
      const ids = yield* recordIds
      const { thumbnail, ...text } = yield* withoutKept(kept, body, blueprintRecord(blueprint, ids), elsewhere)
      const change = blueprintText(text)
      const issues = blueprintTextIssues(change)
      if (issues.length > 0) return yield* new InvalidInput({ what: "Failed to update record.", issues })
      const picture = file && (yield* uploadedPicture(file))
      // an empty text instead of the picture removes it; the name of the current one changes nothing
      const removal = thumbnail === "" ? { thumbnail: undefined } : {}
      const changed = yield* blueprints
        .change(blueprint.id, { ...change, ...removal, ...(picture && { thumbnail: picture }) })
        .pipe(keepingParts(`change blueprint ${blueprint.id}`, blueprint, picture === undefined ? {} : { picture }))
      return blueprintRecord(changed, ids)
    }),
})
