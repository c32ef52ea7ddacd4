import {
  Conflict,
  Failed,
  type Fault,
  InvalidInput,
  type KnownTemplate,
  NotFound,
  SubjectBusy,
  type TemplateDefinition,
  type User,
} from "@rangewright/domain"
import { TemplateBuilder } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { hostFailures, listInstalled } from "../ansible/installed.ts"
import { isBuildOf, runningBuilds } from "./running-builds.ts"
import { mostBuilds, templateBuild, templateSubject } from "./build-run.ts"
import { listTemplates } from "./list-templates.ts"
import { mayBuild, mayHaveName, usedByService } from "./may-build.ts"
import { mayTakeName, othersTemplates } from "./others-templates.ts"

export interface StartedBuilds {
  readonly started: readonly { readonly template: string; readonly run: string }[]
  /** Why nothing was started for it. */
  readonly skipped: readonly { readonly template: string; readonly because: string }[]
  /** How many of these run at once. */
  readonly parallel: number
}

/** The requested names, each once; `all` stands for every template that is not built. */
const asked = (names: readonly string[], known: readonly KnownTemplate[]): readonly string[] =>
  names.includes("all") ? known.filter(({ state }) => state === "not_built").map(({ name }) => name) : [...new Set(names)]

const named = (names: readonly string[]): string =>
  names
    .slice(0, 10)
    .map((name) => JSON.stringify(name.slice(0, 100)))
    .join(", ")

/** Most unfinished builds of one user. */
const mostOfUser = 10

/** How many more builds the user may start. */
const roomFor = Effect.fnUntraced(function* (user: User) {
  const own = (yield* runningBuilds).filter(({ run }) => isBuildOf(run, user)).length
  if (own >= mostOfUser)
    return yield* new Conflict({
      what: `Cannot build templates: you already have ${own} builds waiting or running, and the limit is ${mostOfUser}`,
      hint: "Try again when some have ended, or abort them: POST /templates/abort.",
    })
  return mostOfUser - own
})

/** Prevents two concurrent requests of one user from taking the same room. */
const starts = Semaphore.makeUnsafe(1)

/** Fails if this host cannot build at all. */
const ableToBuild = Effect.gen(function* () {
  const builder = yield* TemplateBuilder
  const state = yield* builder.available
  if (!state.available)
    return yield* new Failed({ what: `Cannot build templates: ${state.because.join("; ")}`, hint: state.hint })
})

/**
 * Starts a build of each of these templates that is neither built nor being built. The builds continue when their caller leaves.
 * `parallel`: how many of them may run at once; less than 1: one.
 */
export const startBuilds = Effect.fnUntraced(function* (user: User, names: readonly string[], parallel: number) {
  yield* mayBuild(user, "build templates")
  if (names.length === 0)
    return yield* new InvalidInput({
      what: "Cannot build templates: the request names none",
      hint: 'Send {"templates": ["all"]} to build all that are not built, or the names of some: GET /templates lists them.',
    })
  const known = yield* listTemplates(user)
  const { own, global } = yield* hostFailures(listInstalled(user))
  const has = (list: readonly TemplateDefinition[], name: string) => list.some((one) => one.name === name)
  const wanted = asked(names, known)
  const states = new Map(known.map((one) => [one.name, one]))
  const unknown = wanted.filter((name) => !states.has(name))
  if (unknown.length > 0)
    return yield* new NotFound({
      what: `Cannot build templates: there is no template ${named(unknown)} that you can build`,
      hint: "GET /templates lists them; PUT /templates adds one.",
    })
  const isOwn = (template: string) => has(own.templates, template) || !has(global.templates, template)
  const others = user.isAdmin ? undefined : yield* hostFailures(othersTemplates(user))
  const mayTake = (template: string) => (others === undefined ? Effect.void : hostFailures(mayTakeName(user, template, others)))
  const taken = new Set<string>()
  for (const template of wanted) {
    if (!isOwn(template)) continue
    if (names.includes("all"))
      yield* Effect.catchTag(mayTake(template), "Forbidden", () => Effect.sync(() => void taken.add(template)))
    else {
      yield* mayHaveName(user, template, "build template")
      if (states.get(template)?.state === "not_built") yield* mayTake(template)
    }
  }
  const isUsedByService = yield* usedByService
  const most = yield* mostBuilds
  const atOnce = Math.min(Math.max(1, parallel), most)
  const batch = (yield* Random.nextInt).toString(36).replace("-", "n")
  const engine = yield* RunEngine
  const skipped: { template: string; because: string }[] = []
  const started: { template: string; run: string }[] = []
  const mayNot = (template: string) =>
    !user.isAdmin && isOwn(template) && isUsedByService(template)
      ? "can only be built by an administrator"
      : taken.has(template)
        ? "differs from the template of this name that is already present on the server"
        : undefined
  const toBuild = wanted.filter((template) => {
    const state = states.get(template)
    const because = state?.state === "building" ? "is being built" : state?.built === true ? "is built" : mayNot(template)
    if (because !== undefined) skipped.push({ template, because })
    return because === undefined
  })
  // templates that are already built need no tool
  if (toBuild.length > 0) yield* ableToBuild
  const startAll = Effect.gen(function* () {
    let room = toBuild.length > 0 ? yield* roomFor(user) : 0
    for (const template of toBuild) {
      if (room === 0) {
        skipped.push({ template, because: `needs another request later: each user may have at most ${mostOfUser} builds` })
        continue
      }
      const request = templateBuild.request(templateSubject(template), {
        template,
        user: user.id,
        userRecord: user.recordId,
        own: isOwn(template),
        batch,
        parallel: atOnce,
      })
      const run: Result.Result<{ readonly id: string }, Fault> = yield* Effect.result(engine.start(request, user.id))
      if (Result.isSuccess(run)) {
        started.push({ template, run: run.success.id })
        room -= 1
      }
      // another request was first
      else if (run.failure instanceof SubjectBusy) skipped.push({ template, because: "is being built or removed" })
      else return yield* Effect.fail(run.failure)
    }
  })
  yield* starts.withPermit(startAll)
  return { started, skipped, parallel: atOnce } satisfies StartedBuilds
})
