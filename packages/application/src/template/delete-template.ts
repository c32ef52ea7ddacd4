import {
  Conflict,
  type Fault,
  Forbidden,
  InvalidInput,
  isFinishedTemplate,
  isTemplateName,
  NotFound,
  type ObservedMachine,
  type User,
  type UserId,
  type Vmid,
} from "@rangewright/domain"
import { ArtifactLibrary, type LibraryScope, Machines, RunJournal, type RunRecord, Sources, Users } from "@rangewright/ports"
import { anyEndOfRun, RunEngine } from "@rangewright/run-engine"
import * as Effect from "effect/Effect"
import { hostFailures, scopeOf } from "../ansible/installed.ts"
import { adoptedBy, templateBuildName, templateSubject } from "./build-run.ts"
import { removalOf, templateRemoval } from "./removal-run.ts"
import { isBuildOf } from "./running-builds.ts"

/** What was done, for people. */
export interface DeletedTemplate {
  readonly unbuilt: number
  /** Whether a built VM stays. */
  readonly stays: boolean
  readonly definition: "removed" | "shipped" | "none"
}

const definedIn = Effect.fnUntraced(function* (scope: LibraryScope, name: string) {
  const library = yield* ArtifactLibrary
  const { templates } = yield* library.list(scope)
  return templates.some((one) => one.name === name)
})

/** Templates that everybody may clone: those in the pool of a range belong to its users. */
const isShared = (machine: ObservedMachine, name: string): boolean =>
  isFinishedTemplate(machine) && machine.name === name && (machine.pool === undefined || machine.pool === "SHARED")

/** The VMs with this name that builds of the user made. */
const builtBy = Effect.fnUntraced(function* (user: User, name: string) {
  const engine = yield* RunEngine
  const journal = yield* RunJournal
  const runs = yield* journal.list({ subject: templateSubject(name), kinds: [templateBuildName], limit: 1000 })
  const made = yield* Effect.forEach(
    runs.filter((run) => run.status !== "running" && isBuildOf(run, user)),
    ({ id }) =>
      Effect.map(Effect.option(engine.state(id)), (state) => (state._tag === "Some" ? adoptedBy(state.value) : undefined)),
  )
  return new Set<Vmid>(made.filter((vmid) => vmid !== undefined))
})

/** Fails if the run removes a template that the user may not delete: rights may have changed since it was started. */
export const mayRemove = Effect.fnUntraced(function* (run: RunRecord, user: User) {
  if (run.kind !== templateRemoval.name || user.isAdmin) return
  const removal = removalOf(run)
  if (removal !== undefined && (yield* builtBy(user, removal.template)).has(removal.vmid)) return
  return yield* new Forbidden({
    reason: `Cannot resume run ${run.id}: you did not build ${removal === undefined ? "this template" : `template ${removal.template}`}`,
    hint: "Ask an administrator.",
  })
})

/** The owner of the files: the user; for an administrator without own files, the only other user with some. */
const ownerOf = Effect.fnUntraced(function* (user: User, name: string) {
  const userStore = yield* Users
  if (yield* definedIn(scopeOf(user), name)) return user.id
  const users = (yield* userStore.list).filter(({ id }) => id !== user.id)
  const owners: UserId[] = []
  for (const { id } of users) if (yield* definedIn({ type: "user", userId: id }, name)) owners.push(id)
  const [owner, ...more] = owners
  if (owner === undefined) return undefined
  if (!user.isAdmin) return yield* new InvalidInput({ what: `Cannot delete template "${name}": it does not belong to you` })
  if (more.length === 0) return owner
  return yield* new InvalidInput({
    what: `Cannot delete template ${name}: ${owners.length} users have one of this name`,
    hint: `Select one with ?userID=: ${owners.slice(0, 10).join(", ")}.`,
  })
})

const unknown = (name: string) =>
  new NotFound({ what: `Template ${JSON.stringify(name.slice(0, 100))} not found`, hint: "GET /templates lists them." })

/** Removes one VM in a run of the template, and waits for its end. A refusal by the hypervisor is a conflict for clients. */
const unbuild = (template: string, vmid: Vmid, user: User): Effect.Effect<void, Fault, RunEngine> =>
  Effect.gen(function* () {
    const engine = yield* RunEngine
    const { id } = yield* engine.start(templateRemoval.request(templateSubject(template), { template, vmid }), user.id)
    const state = yield* anyEndOfRun(`delete template ${template}`, id)
    if (state.status === "success") return
    const because = [...state.steps.values()].find(({ failure }) => failure !== undefined)?.failure
    return yield* new Conflict({
      what: because?.message ?? `Cannot delete template ${template}: ${state.message}`,
      ...(because?.hint === undefined ? {} : { hint: because.hint }),
    })
  })

const whileNotBuilt = Effect.fnUntraced(function* (name: string) {
  const journal = yield* RunJournal
  const run = yield* journal.active(templateSubject(name))
  if (run !== undefined)
    return yield* new Conflict({
      what: `Cannot delete template ${name}: run ${run.id} is ${run.kind === templateBuildName ? "building" : "removing"} it`,
      hint: "Wait until it ends, or abort it: POST /templates/abort.",
    })
})

/**
 * Deletes a template: first the VM, then its files. For templates that come with the service, only the VM is deleted, and only by
 * administrators. A VM that somebody else built stays, unless an administrator asks.
 */
export const deleteTemplate = Effect.fnUntraced(function* (name: string, user: User) {
  const machines = yield* Machines
  const library = yield* ArtifactLibrary
  const sources = yield* Sources
  if (!isTemplateName(name)) return yield* unknown(name)
  const built = (yield* machines.templates).filter((machine) => isShared(machine, name))
  const owner = yield* ownerOf(user, name)
  const shipped = owner === undefined && (yield* definedIn({ type: "global" }, name))
  if (owner === undefined && !shipped && built.length === 0) return yield* unknown(name)
  yield* whileNotBuilt(name)
  const own = user.isAdmin ? undefined : yield* builtBy(user, name)
  const removable = built.filter(({ vmid }) => own === undefined || own.has(vmid))
  if (owner === undefined && removable.length === 0 && !user.isAdmin)
    return yield* shipped
      ? new Forbidden({
          reason: `Template ${name} comes with the service: only administrators may delete what was built from it`,
        })
      : new InvalidInput({ what: `Cannot delete template "${name}": it does not belong to you` })
  for (const { vmid } of removable) yield* unbuild(name, vmid, user)
  const stays = built.length > removable.length
  if (owner === undefined)
    return { unbuilt: removable.length, stays, definition: shipped ? "shipped" : "none" } satisfies DeletedTemplate
  const scope: LibraryScope = { type: "user", userId: owner }
  yield* library.remove({ scope, kind: "template", name })
  yield* sources.release(["template"], name, scope)
  return { unbuilt: removable.length, stays, definition: "removed" } satisfies DeletedTemplate
}, hostFailures)
