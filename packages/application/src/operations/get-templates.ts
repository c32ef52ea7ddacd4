import { templateStates, templateSystems } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { listTemplates } from "../template/list-templates.ts"

const TemplateItem = Schema.Struct({
  name: Schema.String,
  built: Schema.Boolean,
  status: Schema.Literals(templateStates),
  os: Schema.Literals(templateSystems),
  /** Ours: its author's description. */
  description: Schema.optionalKey(Schema.String),
  /** Ours: the URL of its picture, for its users. */
  thumbnailUrl: Schema.optionalKey(Schema.String),
}).annotate({ identifier: "TemplateItem" })

export const getTemplates = operation({
  id: "getTemplates",
  route: "GET /templates",
  group: "Template",
  does: "list templates",
  summary: "Templates on the hypervisor, and those whose builder files the user has",
  access: "user",
  accessNote: "templates in a range's pool only for those who may use the range",
  target: "none",
  output: { type: "json", schema: Schema.Array(TemplateItem) },
  statuses: { 200: "the templates that the user sees, ascending by name" },
  handle: ({ user }) =>
    Effect.map(listTemplates(user), (templates) =>
      templates.map(({ name, built, state, system, description, hasPicture }) => ({
        name,
        built,
        status: state,
        os: system,
        ...(description === undefined ? {} : { description }),
        ...(hasPicture === true ? { thumbnailUrl: `/api/v2/template/${encodeURIComponent(name)}/picture` } : {}),
      })),
    ),
})
