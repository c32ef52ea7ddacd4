import { coverOf, foreignAddressNote, hinders } from "@rangewright/domain"
import { type GuestAutomation, GuestFault, type GuestTask, retryOf } from "@rangewright/ports"
import { prepareRun, runCommand, sizeOf, untilLarger } from "@rangewright/host-tools"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { join } from "node:path"
import { asLibraryFault } from "../library/faults.ts"
import { openAccount } from "./account.ts"
import { carryFacts } from "./carry-facts.ts"
import type { AutomationAvailability } from "./availability.ts"
import { callbackOf, playbookRun } from "./command.ts"
import type { RolesOf } from "./installed-roles.ts"
import { loginOf } from "./connection.ts"
import { configSecrets } from "./config-secrets.ts"
import { cancelled, failureOf, overgrown } from "./failure.ts"
import { isReachedDirectly, jumpHostOf, type LendWay } from "./jump.ts"
import { LoginRefused, type LoginTry, withLogin } from "./login.ts"
import { logLines } from "./log-lines.ts"
import { hostObstacles } from "./obstacles.ts"
import type { settingsOf } from "./options.ts"
import { dialFrom, reachOf } from "./reach.ts"
import { roleProblem } from "./role-play.ts"
import { carriedIn, carriedOut, filesOf } from "./run-files.ts"
import {
  type Folders,
  forgetFacts,
  forgetRange,
  forgetUser,
  ownFolder,
  ownWorkspace,
  scratchFolder,
  userPart,
  workspacesOfUser,
  writeFiles,
} from "./scratch.ts"
import { readMachine, readSite, type Site, type SitePorts } from "./site.ts"
import { addressSet, roleOf } from "./stage-input.ts"
import { isUnprotected, trustedScope, trustObstacles, trustProblem } from "./trust.ts"
import { roleEnvironment } from "./variables.ts"

/** Bytes of one stage's output that a log keeps. */
const logBytes = 512 * 1024
/** How often lines are passed on while a tool runs. */
const flushMillis = 2000
const errorTail = 2000

export interface AutomationContext {
  readonly settings: ReturnType<typeof settingsOf>
  /** What the host has now. */
  readonly current: Effect.Effect<AutomationAvailability>
  readonly folders: Folders
  readonly lendWay: LendWay
  readonly ports: SitePorts
  readonly roles: RolesOf
}

/** The context, with what the host has while one stage runs. */
type Equipped = AutomationContext & { readonly found: AutomationAvailability }

const faultOf = (task: GuestTask, reason: "away" | "failed" | "timeout" | "unsupported", detail: string): GuestFault =>
  new GuestFault({
    doing: task.stage === "role" ? `run role ${roleOf(task) ?? ""}` : `run stage ${task.stage}`,
    machine: task.name,
    reason,
    detail,
  })

/** Only roles connect to machines other than their own. */
const wayTo = ({ settings, lendWay }: AutomationContext, task: GuestTask, site: Site) => {
  const jump = task.stage !== "role" && isReachedDirectly(settings, site.target) ? undefined : jumpHostOf(settings, site)
  return jump === undefined ? Effect.undefined : Effect.mapError(lendWay(jump), ({ detail }) => faultOf(task, "away", detail))
}

/** The site with the stage's machine using the login that is tried. */
const withPassword = (site: Site, password: string | undefined): Site => {
  const { password: _, ...template } = site.target
  const target = password === undefined ? template : { ...template, password }
  return { ...site, target, hosts: site.hosts.map((host) => (host.seen.vmid === target.seen.vmid ? target : host)) }
}

const run = Effect.fnUntraced(function* (context: Equipped, task: GuestTask, known: Site, login: LoginTry) {
  const site = withPassword(known, login.inUse)
  const { settings, found, folders } = context
  // data kept for a user is deleted with the user, and a run that continues must not recreate it
  const userId = site.user?.id
  const ofHost = Effect.mapError((error: Error) => faultOf(task, "failed", `the service's host failed: ${error.message}`))
  const onDisk = <A>(work: () => Promise<A>) =>
    ofHost(Effect.tryPromise({ try: work, catch: (cause) => new Error(String(cause)) }))
  const workspace = yield* onDisk(() => ownWorkspace(folders, site.range, userId))
  const facts = yield* onDisk(() => ownFolder(folders.facts, site.range.id, userPart(userId)))
  const way = yield* wayTo(context, task, site)
  const scratch = yield* ofHost(scratchFolder(folders))
  const isRole = task.stage === "role"
  const carried = isRole
    ? yield* Effect.mapError(carryFacts(folders, context.ports, site, task, isUnprotected(found)), ({ message }) =>
        faultOf(task, "away", message),
      )
    : undefined
  const files = filesOf(context, task, site, login, { scratch, workspace }, carried)
  yield* onDisk(() => writeFiles(scratch, files))
  // facts known about the machine change now
  if (!isRole) yield* Effect.promise(() => forgetFacts(folders, site.range.id, site.target.name))
  const {
    tool: playbook,
    mounts,
    env,
  } = playbookRun(settings, found, {
    scratch,
    playbook: isRole ? join(scratch, "play.yml") : join(settings.playbooks, `${task.stage}.yml`),
    inventories: ["inventory.yml", "connections.json"],
    variables: isRole ? ["range-config.yml", "variables.json"] : ["stage.yml"],
    userId: trustedScope(found, site.user),
    facts: isRole ? facts : undefined,
    carried: isRole ? { from: carriedIn, to: carriedOut } : undefined,
    workspace,
    environment: isRole ? roleEnvironment(settings, site, scratch) : {},
    verbose: task.verbose,
  })
  const secretsOfRange = isRole && site.config !== undefined ? configSecrets(site.config) : []
  const passwords = [
    ...login.secrets,
    ...(carried?.secrets ?? []),
    ...site.hosts.flatMap(({ password = [], templateLogin }) => [password, templateLogin?.password ?? []].flat()),
  ]
  const cover = coverOf(task.input, [...Object.values(settings.environment), ...secretsOfRange, ...passwords])
  const lines = logLines(cover, logBytes)
  const account = openAccount(callbackOf(found), cover)
  let errors = ""
  const { confine, limits: shares } = yield* ofHost(
    prepareRun(found.host, {
      folder: scratch,
      mounts,
      reach: reachOf(task, site),
      dial: dialFrom(settings, found.host, site, way),
      onRefused: (because) => lines.add([`[relay] ${cover(because)}`]),
    }),
  )
  // administrators deploy ranges of others, which must not use up each other's share
  const kept =
    userId === undefined || site.user?.isAdmin === true ? [workspace] : yield* onDisk(() => workspacesOfUser(folders, userId))
  const written = [scratch, facts, ...kept]
  const already = yield* Effect.promise(() => sizeOf(written, Number.MAX_SAFE_INTEGER))
  // a user above the limit may still clean up, unless the size cannot be determined
  const disk = already > Number.MAX_SAFE_INTEGER ? settings.diskBytes : Math.max(settings.diskBytes, already)
  const [program = "", ...args] = confine(playbook)
  const command = { program, args, env, folder: scratch, fileBytes: disk, ...shares }
  const tool = runCommand(command, settings.outputBytes, (stream, line, cut) => {
    if (stream === "stderr") errors = `${errors}${cover(line, -errorTail)}\n`.slice(-errorTail)
    lines.add(stream === "stdout" ? account.take(line, cut) : [line])
  })
  const handOn = Effect.suspend(() => {
    const text = lines.take()
    return text === "" || task.output === undefined ? Effect.succeed(text) : Effect.as(task.output(text), "")
  })
  const follow = Effect.forever(Effect.andThen(Effect.sleep(flushMillis), Effect.uninterruptible(handOn)))
  const ended = Effect.raceAllFirst([
    tool,
    Effect.as(task.cancelled ?? Effect.never, cancelled),
    Effect.as(untilLarger(written, disk), overgrown),
  ]).pipe(Effect.timeoutOption(settings.longest[task.stage] * 1000))
  const end = yield* task.output === undefined ? ended : Effect.raceFirst(ended, follow)
  if (carried !== undefined) lines.add(yield* Effect.uninterruptible(carried.keepFrom(join(scratch, carriedOut))))
  const output = yield* handOn
  const limits = { seconds: settings.longest[task.stage], outputBytes: settings.outputBytes, diskBytes: disk }
  const failure = failureOf(limits, end, account, errors)
  if (failure !== undefined) {
    const fault = faultOf(task, failure.reason, failure.detail)
    return yield* failure.isLoginRefused === true ? new LoginRefused({ fault }) : fault
  }
  const address = addressSet(task)
  const changed = account.changed()
  const tasks = account.tasks()
  // a role may name a task as it likes
  const report = isRole ? undefined : account.report()
  return {
    facts: {
      ...(changed === undefined ? {} : { changed }),
      ...(address === undefined ? {} : { address }),
      foreignAddresses: site.foreignAddresses,
      ...(site.foreignAddresses.length === 0 ? {} : { warnings: [foreignAddressNote(task.name, site.foreignAddresses)] }),
      ...(tasks === undefined ? {} : { data: { tasks, ...(report === undefined ? {} : { report }) } }),
    },
    output,
  }
})

const forgetting = (doing: string, work: () => Promise<void>): Effect.Effect<void, GuestFault> =>
  Effect.tryPromise({
    try: work,
    catch: (cause) =>
      new GuestFault({ doing, machine: "this host", reason: "failed", detail: asLibraryFault("")(cause).facts.detail }),
  })

/**
 * Runs stages as playbooks, each in a process of its own. The work is done while a stage settles, and ends when nobody waits for it any
 * more; settling it again runs it again, which changes nothing that is done.
 */
export const playbookAutomation = (context: AutomationContext): Context.Service.Shape<typeof GuestAutomation> => {
  const { settings, ports } = context
  const able = Effect.fnUntraced(function* (task: GuestTask) {
    const found = yield* context.current
    const work = { os: task.os, stage: task.stage, role: roleOf(task) }
    const obstacle = hostObstacles(found, settings.windows).find((one) => hinders(one, work))
    if (obstacle !== undefined) return yield* faultOf(task, "unsupported", obstacle.because)
    const problem = task.stage === "role" ? roleProblem(roleOf(task), task.input) : undefined
    return problem === undefined ? found : yield* faultOf(task, "failed", problem)
  })
  const perform = Effect.fnUntraced(function* (task: GuestTask) {
    const equipped = { ...context, found: yield* able(task) }
    const site = yield* readSite(ports, settings, task)
    const untrusted = yield* Effect.promise(() => trustProblem(equipped, task, site))
    if (untrusted !== undefined) return yield* faultOf(task, "unsupported", untrusted)
    const { osId, machine } = site.target
    if (loginOf(settings, site.target) !== undefined) {
      const known = site.logins.get(task.machine.vmid) ?? { current: undefined, pending: undefined }
      return yield* withLogin(ports, site.range.id, task, known, (login) => Effect.scoped(run(equipped, task, site, login))).pipe(
        Effect.catchTag("StorageFault", (error) =>
          Effect.fail(faultOf(task, retryOf(error) === "wait" ? "away" : "failed", error.message)),
        ),
      )
    }
    const template = machine === undefined ? "" : `, template ${machine.template}`
    return yield* faultOf(task, "unsupported", `no login is known for its operating system (${osId ?? "unknown"}${template})`)
  })
  return {
    obstacles: Effect.fnUntraced(
      function* (rangeId, by) {
        const found = yield* context.current
        const user = yield* ports.users.find(by)
        const stored = yield* ports.ranges.config(rangeId)
        const untrusted = yield* Effect.promise(() => trustObstacles({ settings, found }, user, stored?.text ?? "{}"))
        return [...hostObstacles(found, settings.windows), ...untrusted]
      },
      Effect.catchTag("StorageFault", ({ message }) =>
        Effect.fail(
          new GuestFault({
            doing: "find out what can be run inside machines",
            machine: "this host",
            reason: "away",
            detail: message,
          }),
        ),
      ),
    ),
    overNetwork: true,
    ...context.roles,
    forget: (userId) => forgetting(`remove what roles kept for user ${userId}`, () => forgetUser(context.folders, userId)),
    forgetRange: (rangeId, removed) =>
      forgetting(`remove what is stored about the machines of range ${rangeId}`, () =>
        forgetRange(context.folders, rangeId, removed),
      ),
    dispatch: (task) => Effect.as(Effect.andThen(able(task), readMachine(context.ports, task)), { token: null }),
    settle: (task) => Effect.scoped(perform(task)),
  }
}
