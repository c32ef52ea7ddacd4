import { commitTo, type MemoryContent } from "@rangewright/adapter-memory"
import type { RecordId, SourceId } from "@rangewright/domain"
import { ContentFetcher, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { idOf } from "../../packages/adapter-http/test/support.ts"

/** Repositories that can be fetched: `labs` is the member's source, the other is nobody's yet. */
export const repositories = { labs: "https://git.example/acme/labs.git", more: "https://git.example/acme/more.git" } as const

const files = {
  "source.yml": "name: Acme Labs\ndescription: Practice ranges\nauthors: [A. Cme]\nhomepage: https://acme.example\n",
  "blueprints/web/blueprint.yml": "id: web\nname: Web\ndescription: A server\nversion: 1.0.0\nconfig: range-config.yml\n",
  "blueprints/web/range-config.yml":
    "ludus:\n  - {vm_name: web, template: debian-12, roles: [acme.hello, pub.docker, lonely, ns.col.role]}\n",
  "blueprints/web/requirements.yml":
    "roles: [{name: pub.docker, version: 7.4.4}]\ncollections: [{name: 'https://git.example/acme/net.kit.git', type: git, version: main}]\n",
  "templates/debian/debian-12.pkr.hcl": 'variable "vm_name" {\n  default = "debian-12"\n}\n',
  "ansible/roles/hello/meta/main.yml": "galaxy_info: {author: acme, role_name: hello, description: Says hello}\n",
  "ansible/collections/kit/galaxy.yml": "namespace: acme\nname: kit\nversion: 1.0.0\n",
}

export const fillRepositories = (content: MemoryContent): void => {
  for (const url of Object.values(repositories)) commitTo(content, url, files)
}

/** The member's source, with content. */
export const seedSources = Effect.gen(function* () {
  const sources = yield* Sources
  const recordId = "source000000000" as RecordId
  const at = new Date("2026-01-02T03:04:05Z")
  const source = yield* sources.create({
    recordId,
    id: "labs" as SourceId,
    owner: idOf.member,
    type: "git",
    url: repositories.labs,
    ref: "HEAD",
    path: "",
    name: "Acme Labs",
    access: undefined,
    schedule: "12h",
    nextSyncAt: at,
    createdAt: at,
  })
  const location = { type: "git", url: source.url } as const
  const snapshot = yield* (yield* ContentFetcher).fetch({ location, holder: `source:${recordId}` })
  yield* sources.commitSync(source, { snapshot: snapshot.id, syncedAt: at })
})
