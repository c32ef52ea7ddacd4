import { folderInstallerLayer, libraryLayer } from "@rangewright/adapter-ansible"
import { contentLayer } from "@rangewright/adapter-git"
import type { User } from "@rangewright/domain"
import { ArtifactLibrary } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { makeTestApp, type TestApp } from "../../packages/application/test/support/app.ts"
import { type Files, testRepository } from "../contracts/content/support/repository.ts"

/** Installations with real git, the library in a folder, and external roles in another folder. */
const files: Files = {
  "shared/motd": "welcome\n",
  "blueprints/web/blueprint.yml": "id: web\nname: Web\nversion: 1.0.0\nconfig: config.yml\n",
  "blueprints/web/config.yml": "ludus:\n  - {vm_name: web, template: debian-lab, roles: [acme.hello, pub.docker]}\n",
  "blueprints/web/requirements.yml": "roles: [{name: pub.docker}]\ncollections: [{name: acme.util}]\n",
  "templates/debian/debian.pkr.hcl": 'variable "vm_name" {\n  default = "debian-lab"\n}\n',
  "templates/debian/setup.sh": { program: "#!/bin/sh\nexit 0\n" },
  "ansible/roles/hello/meta/main.yml": "galaxy_info: {author: acme, role_name: hello}\n",
  "ansible/roles/hello/tasks/main.yml": "[]\n",
  "ansible/roles/hello/tasks/again.yml": { link: "main.yml" },
  "ansible/roles/hello/files/motd": { link: "../../../../shared/motd" },
  "ansible/collections/util/galaxy.yml": "namespace: acme\nname: util\nversion: 1.0.0\n",
}

let root: string
let app: TestApp
let ada: User
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "install-"))
  for (const folder of ["served", "offers/roles/pub.docker/tasks", "offers/roles/pub.docker/meta"])
    mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, "offers/roles/pub.docker/tasks/main.yml"), "[]\n")
  writeFileSync(join(root, "offers/roles/pub.docker/meta/version.yml"), "version: 7.4.4\n")
  const below = Layer.mergeAll(
    libraryLayer({ folder: join(root, "library") }),
    contentLayer({ folder: join(root, "content"), schemes: ["file"], folders: [join(root, "served")] }),
  )
  const layer = Layer.provideMerge(folderInstallerLayer({ folder: join(root, "offers") }), below)
  app = makeTestApp({ content: await Effect.runPromise(Layer.buildWithScope(layer, Scope.makeUnsafe())) })
  ada = await app.addUser("Ada")
})
afterEach(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }))

const library = (...path: readonly string[]) => join(root, "library", "users", "Ada", ...path)
const path = { sourceID: "labs" }
interface ArtifactResult {
  readonly name: string
  readonly ok: boolean
  readonly message?: string
}
const install = (body?: object) => app.call("installSource", ada, { path, body })

it("puts all items of a repository where Ansible and Packer look for them, with links and executables unchanged", async () => {
  const repository = testRepository(join(root, "served"), "labs", files)
  await app.call("createSource", ada, { body: { type: "git", id: "labs", url: `file://${repository.folder}` } })
  expect(await install()).toMatchObject({
    templateResults: [{ name: "debian-lab", ok: true }],
    localAnsibleResults: {
      roleResults: [{ name: "acme.hello", ok: true }],
      collectionResults: [{ name: "acme.util", ok: true }],
    },
    blueprintResults: {
      ansibleResults: [{ name: "pub.docker", version: "7.4.4", ok: true, type: "role" }],
      results: [{ name: "labs/web", ok: true }],
    },
  })
  expect(statSync(library("templates/debian-lab/setup.sh")).mode & 0o111).toBe(0o111)
  expect(readlinkSync(library("roles/acme.hello/tasks/again.yml"))).toBe("main.yml")
  // its target is outside of the role, so the content is copied
  expect(lstatSync(library("roles/acme.hello/files/motd")).isFile()).toBe(true)
  expect(readFileSync(library("roles/acme.hello/files/motd"), "utf8")).toBe("welcome\n")
  expect(existsSync(library("collections/ansible_collections/acme/util/MANIFEST.json"))).toBe(true)
  expect(existsSync(library("roles/pub.docker/tasks/main.yml"))).toBe(true)

  repository.commit({ "ansible/roles/hello/tasks/main.yml": "[{debug: {}}]\n" })
  await install()
  expect(readFileSync(library("roles/acme.hello/tasks/main.yml"), "utf8")).toBe("[]\n")
  await install({ force: true })
  expect(readFileSync(library("roles/acme.hello/tasks/main.yml"), "utf8")).toBe("[{debug: {}}]\n")

  const listing = await app.run(Effect.flatMap(ArtifactLibrary, (port) => port.list({ type: "user", userId: ada.id })))
  expect(listing.roles.map(({ name }) => name)).toEqual(["acme.hello", "pub.docker"])
  const selection = { blueprints: ["web"], localRoles: ["acme.hello"], localCollections: ["acme.util"], roles: ["pub.docker"] }
  await app.call("uninstallFromSource", ada, { path, body: { selection } })
  expect(
    [library("roles/acme.hello"), library("roles/pub.docker"), library("collections/ansible_collections/acme")].map(existsSync),
  ).toEqual([false, false, false])
  expect(existsSync(library("templates/debian-lab"))).toBe(true)
})

it("uses its own names and folders, whatever a source calls its items", async () => {
  const outside = join(root, "library", "users", "Bob", "roles", "victim")
  mkdirSync(dirname(outside), { recursive: true })
  writeFileSync(outside, "mine\n")
  const repository = testRepository(join(root, "served"), "evil", files)
  await app.call("createSource", ada, { body: { type: "git", id: "labs", url: `file://${repository.folder}` } })
  const named: readonly (readonly [string, Files])[] = [
    [
      "templates/debian",
      { "templates/debian/debian.pkr.hcl": 'variable "vm_name" {\n  default = "../../Bob/roles/victim"\n}\n' },
    ],
    ["ansible/collections/util", { "ansible/collections/util/galaxy.yml": "namespace: ../..\nname: util\n" }],
  ]
  for (const [item, bad] of named) {
    repository.commit(bad)
    const done = (await install({ force: true })) as {
      readonly templateResults: readonly ArtifactResult[]
      readonly localAnsibleResults: { readonly collectionResults: readonly ArtifactResult[] }
    }
    const refused = [...done.templateResults, ...done.localAnsibleResults.collectionResults].filter(({ ok }) => !ok)
    expect(refused, item).toEqual([{ name: item.split("/").at(-1), ok: false, message: expect.stringContaining(item) as string }])
    repository.commit(files)
  }
  // a link that is dead in the source stays dead in the copy; one to a folder outside of the role is refused
  repository.commit({ "ansible/roles/hello/files/motd": { link: "../../../../shared" } })
  expect(await install({ selection: { localRoles: ["acme.hello"] } })).toMatchObject({
    localAnsibleResults: {
      roleResults: [{ name: "acme.hello", ok: false, message: expect.stringContaining("ansible/roles/hello/files/motd") }],
    },
  })
  // content installed together with everything else stays as it was
  expect(lstatSync(library("roles/acme.hello/files/motd")).isFile()).toBe(true)
  expect(readFileSync(outside, "utf8")).toBe("mine\n")
})
