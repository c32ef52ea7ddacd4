import { listed } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { operation } from "../operation/operation.ts"
import { type StartedBuilds, startBuilds } from "../template/start-builds.ts"

/** Clients that name more than these mean `all`. */
const mostNames = 1000
const mostShown = 20
const Body = Schema.Struct({
  templates: Schema.Array(Schema.String).check(Schema.isMaxLength(mostNames)),
  parallel: Schema.optionalKey(Schema.Int),
})

const Result = Schema.Struct({
  result: Schema.String,
  /** Ours: the run of each build that was started. */
  builds: Schema.Array(Schema.Struct({ template: Schema.String, runID: Schema.String })),
})

const text = ({ started, skipped, parallel }: StartedBuilds): string => {
  const left = skipped.map(({ template, because }) => `${template} ${because}`)
  const not = left.length === 0 ? "" : ` Skipped: ${listed(left, mostShown)}.`
  if (started.length === 0) return `Nothing to build.${not}`
  return `Building ${listed(
    started.map(({ template }) => template),
    mostShown,
  )}, ${parallel} in parallel. GET /templates/logs shows how far it is.${not}`
}

export const buildTemplates = operation({
  id: "buildTemplates",
  route: "POST /templates",
  group: "Template",
  does: "build templates",
  summary: "Build templates in the background; those that are built or being built are skipped",
  access: "user",
  accessNote: "your own templates and those that come with the service",
  target: "none",
  body: { type: "json", schema: Body, required: true },
  output: { type: "json", schema: Result },
  statuses: {
    200: "the builds are queued or running; what is already built is skipped",
    400: "the body is malformed or names no template",
    403: "only administrators may manage templates, and the user is not one; one of the names is used by the service itself or is another user's, the files are the user's, and the user is not an administrator",
    404: "one of the names is not a template that the user can build",
    409: "the user has the maximum number of builds waiting or running",
    500: "templates cannot be built on this host: the answer says what is missing",
  },
  handle: ({ body, user }) =>
    Effect.map(startBuilds(user, body.templates, body.parallel ?? 0), (builds) => ({
      result: text(builds),
      builds: builds.started.map(({ template, run }) => ({ template, runID: run })),
    })),
})
