import { commitTo } from "@rangewright/adapter-memory"
import { rangeRequest } from "@rangewright/application"
import type { RecordId, RunId, SourceId } from "@rangewright/domain"
import { Sources, Users } from "@rangewright/ports"
import { RunEngine } from "@rangewright/run-engine"
import { writeFileSync } from "node:fs"
import * as Effect from "effect/Effect"
import * as migration from "../../migration/support/lab.ts"
import { accessOperations } from "../../rights/support/operations.ts"
import { open as openRights } from "../../rights/support/scene.ts"
import { perform } from "../../rights/support/watch.ts"
import { runUntilDeath } from "../support/crash.ts"
import { makeCrashGate } from "../support/crash-gate.ts"
import * as lab from "../support/lab.ts"
import * as site from "../support/site.ts"
import { type Golden, stateOf, writeGolden } from "./golden.ts"

/** Writes the journals of this version: `node test/runs/golden/record.ts v2`. Those of older versions stay, and must stay readable. */

type Stored = ReadonlyMap<RunId, { readonly record: Golden["head"]; readonly entries: Golden["entries"] }>

/** The last run of this kind in a store. */
const lastOf = (runs: Stored, kind: string): Golden => {
  const run = [...runs.values()].findLast(({ record }) => record.kind === kind)
  if (run === undefined) throw new Error(`no run of the kind ${kind}`)
  return { head: run.record, entries: run.entries, state: stateOf(run.entries) }
}

const deployed = async (): Promise<Golden> => {
  const company = lab.makeCompany()
  const process = lab.boot(company)
  await lab.startAndWait(process, await lab.createRange(company))
  await process.dispose()
  return lastOf(company.store.runs, "deploy")
}

/** A clone whose VMID is taken, and whose process dies in the middle. */
const resumed = async (): Promise<Golden> => {
  const trio = lab.makeLab(["vm1", "vm2"])
  trio.world.fault = ({ method, action }) =>
    method === "dispatch" && action?.kind === "clone" && action.machine.vmid === lab.labSettings.vmidSpan.from
      ? { when: "before", reason: "taken" }
      : undefined
  const range = await lab.createRange(trio)
  await runUntilDeath(trio, range, lab.deploy, makeCrashGate(90))
  const process = lab.boot(trio)
  await process.runPromise(
    Effect.gen(function* () {
      const engine = yield* RunEngine
      yield* engine.recover
      for (const id of trio.store.runs.keys()) yield* engine.wait(id)
    }),
  )
  await process.dispose()
  return lastOf(trio.store.runs, "deploy")
}

/** Aborted while its steps wait for an unreachable hypervisor. */
const aborted = async (): Promise<Golden> => {
  const pair = lab.makeLab(["vm1", "vm2"])
  const range = await lab.createRange(pair)
  const process = lab.boot(pair)
  await lab.engineOf(process, (engine) =>
    Effect.gen(function* () {
      const { id } = yield* engine.start(rangeRequest(range, lab.deploy), lab.admin)
      yield* Effect.sleep(7000)
      pair.world.fault = () => ({ when: "before", reason: "away" })
      yield* Effect.sleep(600_000)
      yield* engine.cancel(id, lab.admin)
      yield* engine.wait(id)
    }),
  )
  await process.dispose()
  return lastOf(pair.store.runs, "deploy")
}

const fetched = async (): Promise<Golden> => {
  const place = site.makeSite()
  const recordId = "source000000001" as RecordId
  const url = "https://git.example/acme/labs.git"
  commitTo(place.artifacts.content, url, { "templates/debian/debian.pkr.hcl": 'variable "vm_name" {\n  default = "debian"\n}\n' })
  const process = site.boot(place)
  await process.runPromise(
    Effect.gen(function* () {
      yield* (yield* Users).create(site.newAda)
      yield* (yield* Sources).create({
        recordId,
        id: "labs" as SourceId,
        owner: site.ada,
        type: "git",
        url,
        ref: "HEAD",
        path: "",
        name: "labs",
        access: undefined,
        schedule: undefined,
        nextSyncAt: undefined,
        createdAt: new Date(0),
      })
      const engine = yield* RunEngine
      const subject = { type: "source", id: recordId } as const
      const { id } = yield* engine.start({ kind: "source-fetch", subject, options: { recordId } }, site.ada)
      yield* engine.wait(id)
    }),
  )
  await process.dispose()
  return lastOf(place.store.runs, "source-fetch")
}

const migrated = async (): Promise<Golden> => {
  const place = migration.makeMigrationLab({ ranges: 1, nodes: ["pve1"], marked: true })
  const process = migration.bootMigration(place)
  await migration.migrate(process)
  await process.dispose()
  const [kind = ""] = [...place.store.runs.values()].map(({ record }) => record.kind)
  return lastOf(place.store.runs, kind)
}

/** A member of a group loses a range. */
const reconciled = async (): Promise<Golden> => {
  const { site: place, process, watch } = await openRights()
  await perform(
    process,
    accessOperations.find(({ name }) => name === "member removed")!,
    watch,
  )
  await process.runtime.dispose()
  return lastOf(place.store.runs, "reconcile-access")
}

const [version] = process.argv.slice(2)
if (version === undefined) throw new Error("usage: record.ts VERSION")
for (const [name, record] of Object.entries({ deployed, resumed, aborted, fetched, migrated, reconciled }))
  writeFileSync(new URL(`${version}-${name}.jsonl`, import.meta.url), writeGolden(await record()))
