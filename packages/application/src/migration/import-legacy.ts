import { type LegacyImport, type LegacyInstallation, planImport, rangesTakenOver, rootUserId } from "@rangewright/domain"
import { LegacyData, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { bringInLine } from "../rights/in-line.ts"
import { whenInstallationIdle } from "../run/installation-gate.ts"
import { attempt, importAccounts, type ImportedAccounts, importedConfig } from "./import-accounts.ts"
import { importMachines, planMachines, type RangeTakenOver } from "./import-machines.ts"

/** Most lines about what was not imported; a foreign database could cause a million. */
const linesAtMost = 200

/** What already exists here. */
const target = Effect.gen(function* () {
  const rangeStore = yield* Ranges
  const users = yield* Users
  const ranges = yield* rangeStore.list()
  const grants = yield* Effect.forEach(ranges, (range) => Ranges.use((all) => all.grants(range.id)))
  return {
    users: yield* users.list,
    ranges,
    grants: grants.flat().filter(({ accessType }) => accessType === "Direct"),
  }
})

/** Ranges here that came from the old installation. */
const takenOver = (legacy: LegacyInstallation) =>
  Effect.flatMap(Ranges, (ranges) => Effect.map(ranges.list(), (here) => rangesTakenOver(legacy, here)))

const withConfigs = (ranges: readonly Omit<RangeTakenOver, "config">[]) =>
  Effect.forEach(ranges, ({ id, number }) =>
    Effect.map(
      Ranges.use((all) => all.config(id)),
      (stored): RangeTakenOver => ({ id, number, config: stored?.text ?? "" }),
    ),
  )

interface Outcome extends ImportedAccounts {
  readonly machines: number
  readonly told: readonly string[]
}

const rehearse = (legacy: LegacyInstallation, plan: LegacyImport) =>
  Effect.gen(function* () {
    const here = yield* withConfigs(yield* takenOver(legacy))
    const coming = plan.ranges.map((range) => ({ id: range.id, number: range.number, config: importedConfig(range) }))
    const machines = yield* planMachines(legacy, [...here, ...coming])
    return {
      users: plan.users.length,
      ranges: plan.ranges.length,
      grants: plan.grants.length,
      machines: machines.adopt.length,
      told: [...plan.skipped, ...machines.told],
    } satisfies Outcome
  })

const carryOut = (legacy: LegacyInstallation, plan: LegacyImport) =>
  Effect.gen(function* () {
    const { accounts, skipped } = yield* importAccounts(plan)
    const ranges = yield* takenOver(legacy)
    const doing = "import accounts, pools and rights on the hypervisor"
    const inLine = Effect.asVoid(bringInLine({ doing, by: rootUserId, concerns: () => true }))
    const rights = yield* attempt("accounts, pools and rights on the hypervisor", inLine)
    const machines = yield* importMachines(yield* planMachines(legacy, yield* withConfigs(ranges)))
    return {
      ...accounts,
      machines: machines.count,
      told: [...plan.skipped, ...skipped, ...rights, ...machines.told],
    } satisfies Outcome
  })

const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`

const outcomeText = (legacy: LegacyInstallation, dryRun: boolean, { users, ranges, grants, machines, told }: Outcome): string => {
  const what = [
    count(users, "user"),
    count(ranges, "range"),
    `${count(grants, "further grant of access", "further grants of access")} and ${count(machines, "machine")}`,
  ].join(", ")
  const isIdle = users + ranges + grants + machines === 0
  const done = isIdle
    ? "The migration is complete: there is nothing more to import."
    : `The migration is complete: ${what} imported.`
  const shown = told.length > linesAtMost ? [...told.slice(0, linesAtMost), `${told.length - linesAtMost} more`] : told
  const root =
    !isIdle && legacy.users.some(({ id }) => id === rootUserId)
      ? [
          "ROOT keeps the key of this service, in the file root-api-key of its data folder; the command root-key gives it the older one.",
        ]
      : []
  return [dryRun ? `The migration would import ${what}.` : done, ...root, ...shown.map((one) => `! ${one}`)].join("\n")
}

/**
 * Imports users, keys, ranges, grants and machines from an installation of the first generation, as far as they do not exist here. Safe to
 * repeat; the old data is only read. The returned text lists what was done and what was not. With `dryRun` nothing is changed.
 */
export const importLegacy = (dryRun: boolean) =>
  Effect.gen(function* () {
    const { place, read } = yield* LegacyData
    const legacy = yield* read
    if (legacy === undefined) return `Nothing to migrate: no database of an older installation was found (${place}).`
    if (legacy.takenOver !== undefined)
      return `Nothing to migrate: ${legacy.takenOver} says that another service has imported ${place}, and later changes there are not in it. Remove that file to import it here anyway.`
    const planned = Effect.map(target, (here) => planImport(legacy, here))
    if (dryRun) return outcomeText(legacy, dryRun, yield* rehearse(legacy, yield* planned))
    // rights and machines must not change while networks move
    const plan = yield* whenInstallationIdle("import an older installation", () => planned)
    return outcomeText(legacy, dryRun, yield* carryOut(legacy, plan))
  })
