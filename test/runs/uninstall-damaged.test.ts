import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { storageLayer } from "@rangewright/adapter-storage"
import { sourceUninstall } from "@rangewright/application"
import type { BlueprintId, RecordId, RunHead, SourceId } from "@rangewright/domain"
import { Blueprints, type SourceClaim, Sources, StorageFault, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { expect, it, onTestFinished } from "vitest"
import { ada, boot, makeSite, newAda } from "./support/site.ts"

const [labs, other] = ["source000000001" as RecordId, "source000000002" as RecordId]
const role = (name: string): SourceClaim => ({ kind: "galaxy-role", name, version: "", scope: { type: "user", userId: ada } })
const source = (recordId: RecordId, id: string) => ({
  recordId,
  id: id as SourceId,
  owner: ada,
  type: "git" as const,
  url: `https://git.example/${id}.git`,
  ref: "",
  path: "",
  name: id,
  access: undefined,
  schedule: undefined,
  nextSyncAt: undefined,
  createdAt: new Date(0),
})

const seed = Effect.gen(function* () {
  const sources = yield* Sources
  yield* (yield* Users).create(newAda)
  yield* sources.create(source(labs, "labs"))
  yield* sources.create(source(other, "other"))
  yield* sources.claim(labs, ["acme.shared", "acme.named", "acme.unused"].map(role))
  yield* sources.claim(other, [role("acme.shared")])
  yield* (yield* Blueprints).create({
    id: "web" as BlueprintId,
    recordId: "blueprint000001" as RecordId,
    owner: ada,
    name: "Web",
    description: "",
    version: "1.0.0",
    tags: [],
    minVersion: "",
    config: "ludus: [{vm_name: a, template: debian, roles: [acme.named]}]\n",
    requirements: undefined,
    bundle: undefined,
    thumbnail: undefined,
    createdAt: new Date(0),
  })
})

const nothing = {
  blueprints: [],
  templates: [],
  localRoles: [],
  localCollections: [],
  roles: [],
  collections: [],
  subscriptionRoles: [],
}
const asked = sourceUninstall.request(
  { type: "source", id: labs },
  {
    recordId: labs,
    user: ada,
    global: false,
    force: false,
    selection: { ...nothing, roles: ["acme.shared", "acme.named", "acme.unused"] },
  },
)
const head: RunHead = { id: "run000000000001" as RunHead["id"], ...asked, by: ada, startedAt: new Date(0) }

/** What an uninstallation would remove after the database was edited by hand. */
const plannedAfter = async (sql: string) => {
  const folder = await mkdtemp(join(tmpdir(), "rangewright-uninstall-"))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, "data.db")
  const process = boot({ ...makeSite(), storage: storageLayer({ file }) })
  onTestFinished(() => process.dispose())
  await process.runPromise(seed)
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
  return process.runPromise(
    Effect.result(
      Effect.map(sourceUninstall.plan(head, false), ({ steps }) =>
        steps.flatMap(({ key, action }) => (JSON.stringify(action).includes('"removal"') ? [key] : [])),
      ),
    ),
  )
}

it.each([
  ["whole rows", "select 1"],
  ["a damaged row of the other source", "update sources set type = 'ftp' where id = 'other'"],
  ["a damaged row of the blueprint", "update blueprints set created_at = 'then'"],
])("an uninstallation keeps what another source or a blueprint needs, with %s", async (_, sql) => {
  expect(await plannedAfter(sql)).toMatchObject({ _tag: "Success", success: ["role:acme.unused"] })
})

it.each([
  ["claim of another source", `update source_claims set kind = 'charm' where source_record_id = '${other}'`],
  ["id of another source", "update sources set id = '../x' where id = 'other'"],
  ["id of a blueprint", "update blueprints set id = '' where id = 'web'"],
])("an uninstallation is refused if a %s is damaged, which is named", async (_, sql) => {
  const refused = await plannedAfter(sql)
  expect(refused).toMatchObject({ _tag: "Failure", failure: { facts: { damaged: true } } })
  expect(refused._tag === "Failure" && refused.failure).toBeInstanceOf(StorageFault)
})
