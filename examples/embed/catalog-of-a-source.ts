/**
 * Rangewright as a library: the catalog of a source from three plain values, without a service, a database or a file system.
 *
 * What a source ships is read from paths and texts, wherever they come from; what is installed and which blueprints were taken over
 * is for the embedder to know.
 */
import { catalogOf, readSource, sayIssues, type BlueprintRow, type Installed } from "@rangewright/domain"
import * as Result from "effect/Result"

const texts = new Map([
  ["source.yml", "name: Acme Labs\n"],
  ["blueprints/web/blueprint.yml", "id: web\nname: A web server\nversion: 1.1.0\nconfig: range-config.yml\n"],
  [
    "blueprints/web/range-config.yml",
    "ludus:\n  - {vm_name: web, template: debian-12, roles: [acme.hello, geerlingguy.docker]}\n",
  ],
  ["blueprints/web/requirements.yml", "roles:\n  - {name: geerlingguy.docker, version: 7.4.4}\n"],
  ["ansible/roles/hello/meta/main.yml", "galaxy_info: {author: acme, role_name: hello, description: Says hello}\n"],
])
const entries = [...texts.keys()].map((path) => ({ path, kind: "file" as const }))

const read = readSource({ entries, texts })
if (Result.isFailure(read)) throw new Error(`Cannot read the source: ${sayIssues(read.failure)}`)

const shipped = { source: { id: "acme-labs", name: "Acme Labs" }, content: read.success.content }
const installed: Installed = {
  templates: [],
  roles: [{ name: "geerlingguy.docker", scope: "global", version: "7.0.1" }],
  collections: [],
}
const blueprintRows: ReadonlyArray<BlueprintRow> = [{ sourceBlueprintID: "web", version: "1.0.0" }]

const { blueprints, localRoles } = catalogOf(shipped, installed, blueprintRows)
for (const { id, version, state } of blueprints.items) process.stdout.write(`blueprint ${id} ${version}: ${state}\n`)
for (const { name, state, requiredBy = [] } of [...localRoles, ...blueprints.requiredRoles])
  process.stdout.write(`role ${name}: ${state}, needed by ${requiredBy.join(", ")}\n`)
