import { NotFound, pictureTypeOf } from "@rangewright/domain"
import { ArtifactLibrary } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { hostFailures, listInstalled, scopeOf } from "../ansible/installed.ts"
import { operation } from "../operation/operation.ts"

export const getTemplatePicture = operation({
  id: "getTemplatePicture",
  route: "GET /template/{name}/picture",
  group: "Template",
  origin: "ours",
  does: "read the picture of a template",
  summary: "The picture of a template from its files",
  access: "user",
  accessNote: "your own templates and those that come with the service",
  target: "none",
  path: { name: Schema.String },
  output: { type: "binary", contentType: "image/*" },
  statuses: { 200: "the picture", 404: "there is no such template, or it has no picture" },
  handle: ({ path: { name }, user }) =>
    Effect.gen(function* () {
      const library = yield* ArtifactLibrary
      const { own, global } = yield* listInstalled(user)
      const isOwn = own.templates.some((template) => template.name === name)
      const { picture } = [...own.templates, ...global.templates].find((template) => template.name === name) ?? {}
      const files = picture === undefined ? [] : yield* library.files({ scope: scopeOf(user, !isOwn), kind: "template", name })
      const file = files?.find((entry) => entry.path === picture)
      const bytes = file?.kind === "file" ? yield* file.read : undefined
      const contentType = bytes && pictureTypeOf(bytes)
      if (bytes === undefined || contentType === undefined)
        return yield* new NotFound({ what: `Template ${JSON.stringify(name.slice(0, 100))} does not exist or has no picture` })
      return { contentType, bytes }
    }).pipe(hostFailures),
})
