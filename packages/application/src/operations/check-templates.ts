import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { type CheckedTemplate, checkTemplates as check } from "../template/check-templates.ts"

const because = { because: Schema.optionalKey(Schema.String) }

const CheckedImageItem = Schema.Struct({
  /** Absent: it cannot be read from the builder file without running that. */
  url: Schema.optionalKey(Schema.String),
  file: Schema.Struct({
    state: Schema.Literals(["there", "gone", "not_checked"]),
    ...because,
    bytes: Schema.optionalKey(Schema.Number),
    /** As its server writes it. */
    lastModified: Schema.optionalKey(Schema.String),
  }),
  checksum: Schema.Struct({ state: Schema.Literals(["matches", "differs", "none", "not_checked"]), ...because }),
})

const CheckedTemplateItem = Schema.Struct({
  template: Schema.String,
  images: Schema.Array(CheckedImageItem),
  /** For evaluation versions of Windows, whose period begins with the build. */
  evaluation: Schema.optionalKey(
    Schema.Struct({
      state: Schema.Literals(["runs", "ended", "not_checked"]),
      ...because,
      days: Schema.Int,
      builtAt: Schema.optionalKey(Schema.String),
      endsAt: Schema.optionalKey(Schema.String),
    }),
  ),
  /** Why nothing, or not everything, was checked. */
  notChecked: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "CheckedTemplate" })

const shown = ({ template, images, evaluation, notChecked }: CheckedTemplate): typeof CheckedTemplateItem.Type => ({
  template,
  images: images.map(({ url, file, checksum }) => ({ ...(url === undefined ? {} : { url }), file, checksum })),
  ...(evaluation === undefined
    ? {}
    : {
        evaluation: {
          state: evaluation.state,
          days: evaluation.days,
          ...(evaluation.because === undefined ? {} : { because: evaluation.because }),
          ...(evaluation.builtAt === undefined ? {} : { builtAt: evaluation.builtAt.toISOString() }),
          ...(evaluation.endsAt === undefined ? {} : { endsAt: evaluation.endsAt.toISOString() }),
        },
      }),
  ...(notChecked === undefined ? {} : { notChecked }),
})

export const checkTemplates = operation({
  id: "checkTemplates",
  route: "GET /templates/check",
  group: "Template",
  origin: "ours",
  does: "check templates",
  summary: "Whether the images that templates are installed from still exist and match their checksums, and evaluation periods",
  access: "user",
  accessNote: "your own templates and those of everybody",
  target: "none",
  query: { name: Schema.optionalKey(Schema.String) },
  output: { type: "json", schema: Schema.Array(CheckedTemplateItem) },
  statuses: {
    200: "the findings for each template, ascending by name, with the reason for what could not be checked",
    404: "the user has no files that a template of this name is built from",
    409: "another check is running",
    500: "the files of templates cannot be read at present",
  },
  handle: ({ query, user }) => Effect.map(check(user, query.name), (templates) => templates.map(shown)),
})
