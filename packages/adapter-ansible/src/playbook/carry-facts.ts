import { isSecretKey, isVariableName, type Json, resolveRoleOrder, roleFacts, roleKey } from "@rangewright/domain"
import type { GuestTask } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { decidesWhere, isAnsiblesOwn } from "./own-variables.ts"
import { variablesOf, wrongVariable } from "./role-play.ts"
import {
  type Facts,
  factsBefore,
  type FactsBefore,
  factsNamed,
  isNeeded,
  type KeptFacts,
  merged,
  type RoleStep,
} from "./role-facts.ts"
import { forgetKept, keep, readKept, readWritten } from "./role-facts-store.ts"
import type { Folders } from "./scratch.ts"
import type { Site, SitePorts } from "./site.ts"
import { roleOf } from "./stage-input.ts"

/** Facts that a role gets from other roles, and how those that it sets are kept. */
export interface CarriedFacts {
  readonly before: FactsBefore
  /** Initial facts of other machines with roles that have not begun, by name. */
  readonly others: ReadonlyMap<string, Json>
  /** Secrets among the given facts. */
  readonly secrets: readonly string[]
  /** Stores what the tool wrote to this file. Returns a log line if nothing could be stored. */
  readonly keepFrom: (path: string) => Effect.Effect<readonly string[]>
}

const nothingSet: FactsBefore = { facts: new Map(), initial: new Map() }

/** Secrets are short, and each line is searched for all of them. */
const longestSecret = 8192

/** The string that this JSON is; undefined for anything else, whoever wrote it. */
const textIn = (json: string): string | undefined => {
  if (!json.startsWith('"') || json.length > longestSecret) return undefined
  try {
    return String(JSON.parse(json))
  } catch {
    return undefined
  }
}

/** Strings under names that suggest secrets. Hiding nested ones is up to the role's author. */
const secretsAmong = ({ facts }: FactsBefore): readonly string[] =>
  [...facts.values()].flatMap((values) => [...values].flatMap(([name, json]) => (isSecretKey(name) ? (textIn(json) ?? []) : [])))

const stepOf = (site: Site, task: GuestTask, stages: ReadonlyMap<number, ReadonlyMap<string, string>>): RoleStep | undefined => {
  if (task.run === undefined) return undefined
  const order = site.config === undefined ? undefined : Result.getOrUndefined(resolveRoleOrder(site.config, site.range.id))
  const wanted = new Set(order?.order.map(({ machine, role }) => roleKey(machine, role)))
  return {
    key: roleKey(task.machine.mark.machine, roleOf(task) ?? ""),
    run: task.run,
    isDone: (vmid, key) => wanted.has(key) && stages.get(vmid)?.has(key) === true,
  }
}

/**
 * Leaves out the variables of Ansible that roles must not set for each other: those that decide where the work is done, and without the
 * sandbox that there should be, all. What the configuration itself sets for a machine stays.
 */
const fitToCarry =
  (isHeldBack: (name: string) => boolean, isConfigured: (name: string, host: string) => boolean) =>
  (kept: KeptFacts): KeptFacts => ({
    ...kept,
    initial: factsNamed(kept.initial, (name, host) => !isHeldBack(name) || isConfigured(name, host)),
    set: factsNamed(kept.set, (name) => !isHeldBack(name)),
  })

const mostNamed = 5

const heldBackNote = (set: Facts, isHeldBack: (name: string) => boolean): readonly string[] => {
  const names = [...set.values()].flatMap((values) => [...values.keys()].filter(isHeldBack)).filter(isVariableName)
  const told = [...new Set(names)].slice(0, mostNamed).join(", ")
  return told === "" ? [] : [`[facts] later roles do not get Ansible's own variables from this one: ${told}`]
}

/**
 * Reads the facts that a role is to find. Deletes facts that are no longer needed. Without a run, nothing is carried from role to role.
 * `unprotected`: there is no sandbox, although there should be one.
 */
export const carryFacts = Effect.fnUntraced(function* (
  folders: Pick<Folders, "roleFacts">,
  { machines, secrets }: Pick<SitePorts, "machines" | "secrets">,
  site: Site,
  task: GuestTask,
  unprotected: boolean,
) {
  const { range, target, hosts } = site
  const given = site.config === undefined ? new Map<string, Json>() : roleFacts({ range, config: site.config })
  const isHeldBack = unprotected ? isAnsiblesOwn : decidesWhere
  const isConfigured = (name: string, host: string): boolean =>
    [given.get(host), host === target.name ? task.input : undefined].some((input) => Object.hasOwn(variablesOf(input), name))
  const step = stepOf(site, task, yield* machines.stages(range.id))
  const all = step === undefined ? [] : (yield* readKept(folders, secrets, range)).map(fitToCarry(isHeldBack, isConfigured))
  const before = step === undefined ? nothingSet : factsBefore(all, step)
  if (step !== undefined) {
    const unneeded = all.filter((kept) => !isNeeded(kept, step)).map(({ key }) => key)
    yield* Effect.promise(() => forgetKept(folders, range, unneeded))
  }
  const isThere = new Set(hosts.map(({ name }) => name))
  const lacking = ([name, facts]: readonly [string, Json]) =>
    name !== target.name && isThere.has(name) && !before.initial.has(name) && wrongVariable(facts) === undefined

  const keepFrom = Effect.fnUntraced(function* (path: string) {
    if (step === undefined) return []
    const written = yield* Effect.promise(() => readWritten(path))
    if (written === undefined) return ["[facts] what this role set is not kept for later roles: the tool did not report it"]
    const at = yield* Clock.currentTimeMillis
    // a role repeated after a crash starts with the same facts as before
    const began = all.find(({ key, run }) => key === step.key && run === step.run.id)?.initial ?? new Map()
    const { key, run } = step
    const { vmid, mark } = task.machine
    const facts = {
      key,
      machine: mark.machine,
      vmid,
      run: run.id,
      at,
      initial: merged([began, written.initial]),
      set: written.set,
    }
    const isKept = yield* Effect.promise(() => keep(folders, secrets, range, facts).catch(() => false))
    return isKept
      ? heldBackNote(written.set, isHeldBack)
      : ["[facts] what this role set is not kept for later roles: it takes too much space"]
  })
  const carried: CarriedFacts = {
    before,
    others: new Map([...given].filter(lacking)),
    secrets: secretsAmong(before),
    keepFrom,
  }
  return carried
})
