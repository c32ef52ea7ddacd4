import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { runningBuilds } from "../template/running-builds.ts"

export const getTemplatesStatus = operation({
  id: "getTemplatesStatus",
  route: "GET /templates/status",
  group: "Template",
  does: "list the builds of templates",
  summary: "Running builds of templates, of all users",
  access: "user",
  target: "none",
  output: { type: "json", schema: Schema.Array(Schema.Struct({ template: Schema.String, user: Schema.String })) },
  statuses: { 200: "each template that is being built, with the hypervisor account of who builds it" },
  handle: () =>
    Effect.map(runningBuilds, (builds) => builds.map(({ template, by }) => ({ template, user: by.hypervisorUsername }))),
})
