import { commitTo, type MemoryFiles, publishTo } from "@rangewright/adapter-memory"
import type { Blueprint, RecordId, Source, SourceCatalog, SourceId, User } from "@rangewright/domain"
import { Blueprints, ContentFetcher, Sources } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { makeTestApp, type TestApp, type TestAppOptions } from "./app.ts"

const url = "https://git.example/acme/labs.git"
/** The configuration of the blueprint `web`. */
export const webConfig = `ludus:
  - vm_name: web
    hostname: web
    template: debian-lab
    vlan: 10
    ip_last_octet: 11
    ram_gb: 2
    cpus: 2
    linux: true
    roles: [acme.hello, pub.docker]
`
/** The content of the source: one item of each kind, a blueprint that needs all of them, and items that nothing needs. */
export const labsFiles: MemoryFiles = {
  "source.yml": "name: Acme Labs\nauthors: [Acme]\nlicense: MIT\n",
  "blueprints/web/blueprint.yml": "id: web\nname: A web server\nversion: 1.0.0\nconfig: range-config.yml\ntags: [web]\n",
  "blueprints/web/range-config.yml": webConfig,
  "blueprints/web/requirements.yml":
    "roles:\n  - {name: pub.docker, version: 7.4.4}\n  - {name: hello}\ncollections:\n  - {name: acme.util}\n  - {name: pub.tools}\n",
  "blueprints/bare/blueprint.yml": "id: bare\nname: Nothing needed\nversion: 1.0.0\nconfig: range-config.yml\n",
  "blueprints/bare/range-config.yml": "ludus: []\n",
  "templates/debian/debian.pkr.hcl": 'variable "vm_name" {\n  type = string\n  default = "debian-lab"\n}\n',
  "ansible/roles/hello/meta/main.yml": "galaxy_info: {namespace: acme, role_name: hello}\n",
  "ansible/roles/hello/meta/version.yml": "version: 2.0.0\n",
  "ansible/roles/hello/tasks/main.yml": "- debug: {msg: hello}\n",
  "ansible/roles/unused/tasks/main.yml": "[]\n",
  "ansible/collections/util/galaxy.yml": "namespace: acme\nname: util\nversion: 1.0.0\n",
  "ansible/collections/util/roles/one/tasks/main.yml": "[]\n",
}

/** The registration of Ada's source. */
export const labsSource = {
  recordId: "source000000001" as RecordId,
  id: "labs" as SourceId,
  type: "git",
  url,
  ref: "HEAD",
  path: "",
  name: "labs",
  access: undefined,
  schedule: undefined,
  nextSyncAt: undefined,
  createdAt: new Date(0),
} as const
/** The path parameters of every call on it. */
export const path = { sourceID: "labs" }

interface ItemResult {
  readonly name: string
  readonly ok: boolean
  readonly message?: string
}
/** The answer of an installation. */
export interface Result {
  readonly templateResults: readonly ItemResult[]
  readonly localAnsibleResults: { readonly roleResults: readonly ItemResult[]; readonly collectionResults: readonly ItemResult[] }
  readonly blueprintResults: {
    readonly ansibleResults: readonly {
      readonly name: string
      readonly ok: boolean
      readonly version?: string
      readonly error?: string
      readonly type: string
    }[]
    readonly results?: readonly ItemResult[]
  }
}

type Body = Readonly<Record<string, unknown>>
type Selected = Readonly<Record<string, readonly string[]>>

/** The application with Ada's source, and helpers for its tests. */
export interface Labs {
  readonly app: TestApp
  readonly admin: User
  readonly ada: User
  /** Changes the content of the source from now on. */
  readonly ship: (files: MemoryFiles) => void
  readonly install: (body?: Body, as?: User) => Promise<Result>
  readonly installOnly: (selection: Selected, more?: Body) => Promise<Result>
  readonly upgrade: (body?: Body) => Promise<Result>
  readonly uninstall: (selection: Selected, more?: Body) => Promise<Result>
  /** Everything in the library, sorted. */
  readonly installed: () => readonly string[]
  readonly listed: (operation: string, as?: User) => Promise<unknown>
  readonly catalog: (as?: User) => Promise<SourceCatalog>
  readonly source: () => Promise<Source>
  readonly blueprint: (id: string) => Promise<Blueprint | undefined>
  readonly pinned: (holder: string) => Promise<readonly string[]>
}

const fileOf = (at: string, text: string) => {
  const bytes = new TextEncoder().encode(text)
  return { kind: "file" as const, path: at, size: bytes.length, executable: false, read: Effect.succeed(bytes) }
}

export const makeLabs = async (options?: TestAppOptions): Promise<Labs> => {
  const app = makeTestApp(options)
  const admin = await app.addUser("Root1", { isAdmin: true })
  const ada = await app.addUser("Ada")
  const { content, galaxy, library } = app.artifacts
  const ship = (files: MemoryFiles) => void commitTo(content, url, files)
  ship(labsFiles)
  publishTo(galaxy, "role", "pub.docker", "7.4.4", { entries: [fileOf("tasks/main.yml", "---")] })
  publishTo(galaxy, "collection", "pub.tools", "3.0.0", {
    entries: [fileOf("galaxy.yml", "namespace: pub\nname: tools\nversion: 3.0.0\n")],
  })
  await app.run(Effect.flatMap(Sources, (sources) => sources.create({ ...labsSource, owner: ada.id })))
  const asked = async (operation: string, body?: Body, as = ada) => (await app.call(operation, as, { path, body })) as Result
  const install = (body?: Body, as?: User) => asked("installSource", body, as)
  return {
    app,
    admin,
    ada,
    ship,
    install,
    installOnly: (selection, more = {}) => install({ selection, ...more }),
    upgrade: (body) => asked("upgradeFromSource", body),
    uninstall: (selection, more = {}) => asked("uninstallFromSource", { selection, ...more }),
    installed: () => [...library.artifacts.keys()].toSorted(),
    listed: (operation, as = ada) => app.call(operation, as, { path }),
    catalog: async (as = ada) => {
      const told = await app.call("getSourceCatalog", as, { path })
      return JSON.parse(typeof told === "string" ? told : new TextDecoder().decode(told as Uint8Array)) as SourceCatalog
    },
    source: async () => {
      const found = await app.run(Effect.flatMap(Sources, (sources) => sources.find(labsSource.id)))
      if (found === undefined) throw new Error("the source is gone")
      return found
    },
    blueprint: (id) => app.run(Effect.flatMap(Blueprints, (blueprints) => blueprints.find(id as Blueprint["id"]))),
    pinned: (holder) => app.run(Effect.flatMap(ContentFetcher, (fetcher) => fetcher.pinned(holder))),
  }
}
