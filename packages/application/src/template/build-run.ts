import {
  Conflict,
  expected,
  Failed,
  type Fault,
  isBuilder,
  isFinishedTemplate,
  isRecordId,
  isUserId,
  NotFound,
  openBuildOutput,
  type RecordId,
  type RunHead,
  type RunState,
  type RunSubject,
  type UserId,
  type Vmid,
  workPlan,
} from "@rangewright/domain"
import {
  ArtifactLibrary,
  type BuildAccount,
  Hypervisor,
  HypervisorTemplates,
  type LibraryScope,
  Machines,
  Ranges,
  RunJournal,
  StepDurations,
  TemplateBuilder,
  Users,
} from "@rangewright/ports"
import { runKind, type StepContext, work } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Settings } from "../settings.ts"
import { mayBuild, mayHaveName } from "./may-build.ts"
import { mayTakeName, othersTemplates } from "./others-templates.ts"

/** The subject of the one run of a template at a time: its build, or its removal. */
export const templateSubject = (name: string): RunSubject => ({ type: "template", id: name })

export const templateBuildName = "template-build"

/** The stored request of a build. */
export const BuildRequest = Schema.Struct({
  template: Schema.String,
  /** The user who requested it. User IDs are reused: the record decides who may read the log. */
  user: Schema.String.pipe(Schema.refine(isUserId)),
  userRecord: Schema.String.pipe(Schema.refine(isRecordId)),
  /** Whether its files are the user's or come with the service. */
  own: Schema.Boolean,
  /** Identifies builds that were requested together, and how many of them may run at once. */
  batch: Schema.String,
  parallel: Schema.Int,
})
export type BuildRequest = typeof BuildRequest.Type
const decodeRequest = Schema.decodeUnknownOption(BuildRequest)

/** The request in the head of a build's run. */
export const buildRequestOf = ({ options }: Pick<RunHead, "options">) => decodeRequest(options)

const Build = Schema.Struct({
  template: Schema.String,
  user: Schema.String.pipe(Schema.refine(isUserId)),
  own: Schema.Boolean,
  node: Schema.String,
})
const Template = Schema.Struct({ template: Schema.String })

/** The result of a build: the VMID of the VM that it made. */
const Made = Schema.Struct({ vmid: Schema.Int, node: Schema.String })
const readMade = Schema.decodeUnknownOption(Made)
const madeBy = (data: unknown) => readMade(data)

const buildStep = "build"
const adoptStep = "adopt"
const closeStep = "close"
const ofLibrary = ({ own, user }: { readonly own: boolean; readonly user: UserId }): LibraryScope =>
  own ? { type: "user", userId: user } : { type: "global" }

/** The files of the template, and the path of its builder file. */
const filesOf = Effect.fnUntraced(function* (scope: LibraryScope, template: string) {
  const library = yield* ArtifactLibrary
  const files = yield* library.files({ scope, kind: "template", name: template })
  const builderFile = files?.map(({ path }) => path).find(isBuilder)
  if (files === undefined || builderFile === undefined)
    return yield* new NotFound({
      what: `Cannot build template ${template}: its files no longer exist`,
      hint: "Add it again: PUT /templates.",
    })
  return { files, builderFile }
})

/** Cleans up after an attempt, in this order: first stops what could still create something, then removes what it created. */
const leaveNothing = Effect.fnUntraced(function* ({ id }: Pick<RunHead, "id">) {
  const builder = yield* TemplateBuilder
  const templates = yield* HypervisorTemplates
  yield* builder.clear(id)
  yield* templates.close(id)
})

/**
 * Fails if the hypervisor has another template with this name, whoever made it and in whatever pool: deploys could clone either. One in the
 * pool of a range belongs to that range only.
 */
const noOther = Effect.fnUntraced(function* (template: string, made?: Vmid) {
  const hypervisor = yield* Hypervisor
  const ranges = yield* Ranges
  const { machines } = yield* hypervisor.observe
  const ofRanges = new Set<string>((yield* ranges.list()).map(({ id }) => id))
  const other = machines.find(
    (one) => one.name === template && one.vmid !== made && isFinishedTemplate(one) && !ofRanges.has(one.pool ?? ""),
  )
  if (other !== undefined)
    return yield* new Conflict({
      what: `Cannot build template ${template}: there is another template with this name, VM ${other.vmid}${other.pool === undefined ? "" : ` in pool ${other.pool}`}`,
      hint: "Change vm_name, or remove that template.",
    })
})

/** Fails if the user may not build own files under this name (`mayTakeName`). */
const mayStillTakeName = Effect.fnUntraced(function* (template: string, userId: UserId) {
  const users = yield* Users
  const user = yield* users.find(userId)
  if (user === undefined || user.isAdmin) return
  yield* mayTakeName(user, template, yield* othersTemplates(user))
})

/** Lines are batched: each write to the journal waits for the disk. */
const printer = ({ print }: Pick<StepContext, "print">, { password, tokenSecret }: BuildAccount) => {
  const output = openBuildOutput([Redacted.value(password), Redacted.value(tokenSecret)])
  const say = (text: string) => (text === "" ? Effect.void : Effect.ignore(print(text)))
  return { push: (text: string) => say(output.push(text)), end: Effect.suspend(() => say(output.end())) }
}

const nothingMade = (template: string, made: readonly { readonly name: string; readonly template: boolean }[]) =>
  new Failed({
    what:
      made.length === 0
        ? `Cannot build template ${template}: the tool succeeded, but there is no VM in the build's pool`
        : `Cannot build template ${template}: the tool made ${made
            .map(({ name, template: is }) => `${is ? "template" : "VM"} ${JSON.stringify(name.slice(0, 100))}`)
            .slice(0, 5)
            .join(", ")} instead of one template with this name`,
    hint: "The builder file must use var.proxmox_pool as its pool and give its machine the template's name.",
  })

const attemptLine = (attempt: number, most: number): string => `=> Attempt ${attempt} of ${most}\n`
const isAttempt = /^=> Attempt \d+ of \d+\n$/u

/**
 * Logs the start of another attempt; fails after too many: a template whose build takes down the service or the hypervisor must not do so
 * forever.
 */
const beginAttempt = Effect.fnUntraced(function* (template: string, { head, print }: Pick<StepContext, "head" | "print">) {
  const { templateBuildAttempts: most = 3 } = yield* Settings
  const journal = yield* RunJournal
  const entries = yield* journal.read(head.id, 0)
  const before = entries.filter(({ event }) => event.type === "Output" && isAttempt.test(event.text)).length
  if (before >= most)
    return yield* new Failed({
      what: `Cannot build template ${template}: its build was started ${before} times and interrupted each time, and template_build_attempts allows no more`,
      hint: "The log says why; start another build when that is fixed.",
    })
  yield* print(attemptLine(before + 1, most))
})

/** Seconds between two progress lines of a build. */
const tellEverySeconds = 300
const minutes = (seconds: number): string => `${Math.max(1, Math.round(seconds / 60))} min`

/** Text of the remaining time, estimated from earlier builds of the template. */
const remaining = (usual: number | undefined, seconds: number): string => {
  if (usual === undefined) return "no earlier build says how long it takes"
  return usual > seconds
    ? `about ${minutes(usual - seconds)} left, from earlier builds, which took ${minutes(usual)}`
    : `longer than usual: earlier builds took ${minutes(usual)}`
}

/** Logs at intervals for how long a build has been running, how much is left of it, and what it has made. */
const tellForEver = (
  { print, head }: Pick<StepContext, "print" | "head">,
  usual: number | undefined,
): Effect.Effect<never, never, HypervisorTemplates> =>
  Effect.gen(function* () {
    const { made } = yield* HypervisorTemplates
    for (let seconds = tellEverySeconds; ; seconds += tellEverySeconds) {
      yield* Effect.sleep(tellEverySeconds * 1000)
      const vms = yield* Effect.option(made(head.id))
      const shown = Option.match(vms, {
        onNone: () => "the hypervisor does not answer",
        onSome: (found) =>
          found.length === 0 ? "it has made no VM yet" : `it has VM ${found.map(({ vmid }) => vmid).join(", ")}`,
      })
      yield* Effect.ignore(print(`=> ${minutes(seconds)} so far; ${remaining(usual, seconds)}; ${shown}\n`))
    }
  })

/**
 * The whole build in one step: its account's secrets are not stored, so after any interruption the next attempt starts over, with nothing
 * left of the previous one.
 */
const build = work({
  name: "build-template",
  input: Build,
  settle: ({ template, user, own, node }, context) =>
    Effect.gen(function* () {
      const { head, step, cancelled } = context
      const builder = yield* TemplateBuilder
      const hypervisor = yield* HypervisorTemplates
      yield* leaveNothing(head)
      yield* noOther(template)
      // the files may have changed while the build waited
      if (own) yield* mayStillTakeName(template, user)
      const { files, builderFile } = yield* filesOf(ofLibrary({ own, user }), template)
      yield* beginAttempt(template, context)
      const account = yield* hypervisor.open(head.id, node)
      const { push, end } = printer(context, account)
      const tool = builder
        .build({ id: head.id, template, files, builderFile, node, account, output: push })
        .pipe(Effect.ensuring(end))
      const stopped = Effect.andThen(cancelled, new Conflict({ what: `The build of template ${template} was aborted` }))
      yield* Effect.raceFirst(
        tool,
        Effect.raceFirst(stopped, tellForEver(context, step.learned === true ? step.estimate : undefined)),
      )
      const made = yield* hypervisor.made(head.id)
      const [vm, ...more] = made.filter((one) => one.template && one.name === template)
      if (vm === undefined || more.length > 0) return yield* nothingMade(template, made)
      return { changed: true, data: { vmid: vm.vmid, node: vm.node } }
    }),
})

/** From here on the template is everybody's, and the build can no longer be aborted. */
const adopt = work({
  name: "adopt-template",
  input: Template,
  settle: ({ template }, { head, factsOf }) =>
    Effect.gen(function* () {
      const templates = yield* HypervisorTemplates
      const made = yield* Effect.fromOption(madeBy(factsOf(buildStep)?.data)).pipe(
        Effect.mapError(() => new Failed({ what: `Cannot publish template ${template}: its VM is not known` })),
      )
      const vmid = made.vmid as Vmid
      yield* noOther(template, vmid)
      yield* templates.adopt(head.id, { vmid, name: template })
      const machines = yield* Machines
      // shown at once, and completed by the next observation
      yield* machines.record({
        vmid,
        node: made.node,
        pool: "SHARED",
        name: template,
        power: "stopped",
        template: true,
        cpus: 0,
        memoryMiB: 0,
        tags: [],
      })
      return { changed: true, data: { vmid: made.vmid } }
    }),
})

const close = work({
  name: "close-build",
  input: Template,
  settle: (_, { head }) => Effect.as(leaveNothing(head), { changed: false }),
})

/** The node to build on: the configured one, else the first that is online. */
const nodeFor = Effect.fnUntraced(function* (template: string) {
  const { defaultNode } = yield* Settings
  const machines = yield* Machines
  const online = ((yield* machines.cluster)?.nodes ?? []).filter((node) => node.online).map(({ name }) => name)
  const node = defaultNode === undefined || online.length === 0 ? online.toSorted()[0] : defaultNode
  if (node !== undefined && (online.length === 0 || online.includes(node))) return node
  return yield* new Failed({
    what: `Cannot build template ${template}: ${node === undefined ? "no node of the hypervisor is up" : `node ${node} is not up`}`,
    hint: "GET /readyz says whether the hypervisor answers.",
  })
})

/** Estimated seconds for a template without a successful build. */
const usualSeconds = 1800

/** How long a build of the template takes: what earlier ones took, or else a guess. */
const expectedBuild = Effect.fnUntraced(function* (template: string, by: UserId) {
  const durations = yield* StepDurations
  return expected({ durations: yield* durations.known(by) }, `build ${template}`, usualSeconds)
})

/** Most templates that are built at once, for all users together. */
export const mostBuilds = Effect.map(Settings, ({ templateBuilds = 1 }) => Math.max(1, templateBuilds))

/** Fails unless the user of a requested build may still build the template. A user created again under an old ID is another one. */
const mayStillBuild = Effect.fnUntraced(function* ({ template, user: userId, userRecord, own }: BuildRequest) {
  const users = yield* Users
  const user = yield* users.find(userId)
  if (user?.recordId !== userRecord)
    return yield* new NotFound({ what: `Cannot build template ${template}: it was for user ${userId}, who was removed` })
  yield* mayBuild(user, `build template ${template}`)
  if (own) yield* mayHaveName(user, template, "build template")
})

/** Builds one template, in its own pool and with its own account, and adopts it when it is complete. */
export const templateBuild = runKind({
  name: templateBuildName,
  doing: "a build",
  request: BuildRequest,
  plan: (request, { by }) =>
    Effect.gen(function* () {
      const { template, user, own, batch, parallel } = request
      yield* mayStillBuild(request)
      yield* filesOf(ofLibrary({ own, user }), template)
      const node = yield* nodeFor(template)
      const time = yield* expectedBuild(template, by)
      const uses = [
        { resource: "template-build", slots: yield* mostBuilds },
        { resource: `template-build@${batch}`, slots: Math.max(1, parallel) },
      ]
      return workPlan([
        build.step(
          { key: buildStep, title: `Build template ${template} on ${node}`, ...time, uses },
          { template, user, own, node },
        ),
        adopt.step(
          { key: adoptStep, title: `Publish template ${template}`, after: [buildStep], estimate: 2, pointOfNoReturn: true },
          { template },
        ),
        close.step(
          { key: closeStep, title: "Remove what the build needed", after: [adoptStep], estimate: 5, tolerated: true },
          { template },
        ),
      ])
    }),
  works: [build, adopt, close],
  finish: (_end, state, head): Effect.Effect<void, Fault, HypervisorTemplates | TemplateBuilder> => {
    const begun = state.plan === undefined || (state.steps.get(buildStep)?.attempt ?? 0) > 0
    const isClosed = state.steps.get(closeStep)?.phase === "settled"
    return begun && !isClosed ? leaveNothing(head) : Effect.void
  },
})

/** The adopted VM of a build; undefined: it produced none. */
export const adoptedBy = ({ steps }: Pick<RunState, "steps">): Vmid | undefined => {
  const adopted = steps.get(adoptStep)
  const made = adopted?.phase === "settled" ? madeBy(steps.get(buildStep)?.facts?.data) : undefined
  return made?._tag === "Some" ? (made.value.vmid as Vmid) : undefined
}

/** The record ID of the user whose build it is; undefined: its request cannot be read. */
export const builderOf = (run: Pick<RunHead, "options">): RecordId | undefined => {
  const request = buildRequestOf(run)
  return request._tag === "Some" ? request.value.userRecord : undefined
}
