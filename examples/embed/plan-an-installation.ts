/**
 * Plan an installation from a source: what it would do, from plain values, before anything is done.
 *
 * The source's content is read from paths and texts; the embedder provides what is already installed. The plan is data: carry it out as you
 * like.
 */
import { dryRunOf, planInstall, type Present, readSource, sayIssues } from "@rangewright/domain"
import * as Result from "effect/Result"

const texts = new Map([
  ["blueprints/web/blueprint.yml", "id: web\nname: A web server\nversion: 1.1.0\nconfig: range-config.yml\n"],
  ["blueprints/web/range-config.yml", "ludus:\n  - {vm_name: web, template: debian-12, roles: [acme.hello, pub.docker]}\n"],
  ["blueprints/web/requirements.yml", "roles:\n  - {name: pub.docker, version: 7.4.4}\n"],
  ["ansible/roles/hello/meta/main.yml", "galaxy_info: {author: acme, role_name: hello}\n"],
  ["ansible/roles/hello/meta/version.yml", "version: 2.0.0\n"],
])
const read = readSource({ entries: [...texts.keys()].map((path) => ({ path, kind: "file" as const })), texts })
if (Result.isFailure(read)) throw new Error(`Cannot read the source: ${sayIssues(read.failure)}`)

const source = { id: "acme-labs", name: "Acme Labs", content: read.success.content }
const present: Present = {
  templates: [],
  roles: [{ name: "acme.hello", version: "1.0.0" }],
  collections: [],
  globalRoles: [],
  blueprints: [],
  otherBlueprints: new Set(),
  builtInTemplates: new Set(),
}

for (const force of [false, true]) {
  const planned = planInstall(source, present, { selection: { blueprints: ["web"] }, force })
  if (Result.isFailure(planned)) throw new Error("the source ships no blueprint web")
  for (const { kind, name, change, reason } of dryRunOf(source, planned.success).items)
    process.stdout.write(`${change} ${kind} ${name}${reason === undefined ? "" : `: ${reason}`}\n`)
}
