import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { buildPhase, runningBuilds } from "../template/running-builds.ts"

const Build = Schema.Struct({
  template: Schema.String,
  user: Schema.String,
  /** Ours: `queued` while it waits for its turn. */
  phase: Schema.Literals(["queued", "running"]),
})

export const getTemplatesStatus = operation({
  id: "getTemplatesStatus",
  route: "GET /templates/status",
  group: "Template",
  does: "list the builds of templates",
  summary: "Running builds of templates, of all users",
  access: "user",
  target: "none",
  output: { type: "json", schema: Schema.Array(Build) },
  statuses: { 200: "each template that is being built, with the hypervisor account of who builds it" },
  handle: () =>
    Effect.flatMap(
      runningBuilds,
      Effect.forEach(({ run, template, by }) =>
        Effect.map(buildPhase(run.id), (phase) => ({ template, user: by?.hypervisorUsername ?? "", phase })),
      ),
    ),
})
