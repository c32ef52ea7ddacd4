import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type TarEntry, tarGz } from "../contracts/content/support/archives.ts"
import type { Problem } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addUser } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { type ServiceProcess, startService } from "./support/service.ts"

/** A service, its folder, and one of its users. */
interface Site {
  readonly data: string
  service: ServiceProcess
  readonly key: string
}

let roles: string
let here: Site
let there: Site

const openSite = async (): Promise<Site> => {
  const data = temporaryFolder()
  const service = await startService(data, { RANGEWRIGHT_ROLE_FOLDER: roles })
  return { data, service, key: await addUser(service.root, "ADA") }
}

beforeAll(async () => {
  roles = temporaryFolder()
  mkdirSync(join(roles, "roles/pub.hello/tasks"), { recursive: true })
  mkdirSync(join(roles, "roles/pub.hello/meta"))
  writeFileSync(join(roles, "roles/pub.hello/tasks/main.yml"), "[]\n")
  writeFileSync(join(roles, "roles/pub.hello/meta/main.yml"), "galaxy_info: {namespace: pub, role_name: hello}\n")
  here = await openSite()
  there = await openSite()
}, 120_000)
afterAll(async () => {
  await endAll()
  removeFolders()
})

const ask = (site: Site, path: string, init: RequestInit = {}) =>
  fetch(`${site.service.url}/api/v2${path}`, { ...init, headers: { ...init.headers, "X-API-KEY": site.key } })
const importTo = (site: Site, archive: Uint8Array) => {
  const form = new FormData()
  form.set("archive", new File([new Uint8Array(archive)], "lab.tar.gz"))
  return ask(site, "/blueprints/import", { method: "POST", body: form })
}
const exportFrom = async (site: Site, id: string) => {
  const response = await ask(site, `/blueprints/${encodeURIComponent(id)}/export`)
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/gzip"])
  return new Uint8Array(await response.arrayBuffer())
}
/** Everything in a service's folder except the database, which changes by itself. */
const contentOf = ({ data }: Site): readonly string[] =>
  readdirSync(data, { recursive: true, encoding: "utf8" }).filter((path) => /snapshots|scratch|upload/u.test(path))

const manifest = "id: team/lab\nname: 'A lab: ours'\nversion: 2.1.0\ntags: [ad]\nmin_ludus_version: 2.0.0\nconfig: lab.yml\n"
const archive = (...more: readonly TarEntry[]) =>
  tarGz([
    { name: "lab/blueprint.yml", content: manifest },
    { name: "lab/lab.yml", content: "# as written\r\nludus: []\n" },
    { name: "lab/requirements.yml", content: "roles:\n  - pub.hello # from the folder\n" },
    { name: "lab/files/tool", content: Uint8Array.from([0, 1, 254, 255]), mode: 0o755 },
    ...more,
  ])

describe("a blueprint", { timeout: 300_000 }, () => {
  test("moves from one installation to another, with the same archive from both, even after a power cut", async () => {
    const imported = await importTo(here, archive())
    expect([imported.status, await imported.json()]).toEqual([
      201,
      expect.objectContaining({
        blueprintID: "team/lab",
        ansibleResults: [{ name: "pub.hello", ok: true, type: "role" }],
      }),
    ])
    const first = await exportFrom(here, "team/lab")
    await here.service.crash()
    here.service = await startService(here.data, { RANGEWRIGHT_ROLE_FOLDER: roles })
    expect(Buffer.compare(await exportFrom(here, "team/lab"), first)).toBe(0)
    expect((await importTo(there, first)).status).toBe(201)
    expect(Buffer.compare(await exportFrom(there, "team/lab"), first)).toBe(0)
    expect(await (await ask(there, "/blueprints/team%2Flab")).json()).toMatchObject({
      id: "team/lab",
      name: "A lab: ours",
      version: "2.1.0",
      tags: ["ad"],
      min_ludus_version: "2.0.0",
      lastInstallStatus: "ok",
    })
    expect(readFileSync(join(roles, "roles/pub.hello/tasks/main.yml"), "utf8")).toBe("[]\n")
  })

  test("is refused if its archive is hostile: one error names the entry, and nothing is left behind", async () => {
    const listed = async () => (await ask(there, "/blueprints")).json()
    const [before, shown] = [contentOf(there), await listed()]
    for (const entry of [
      { name: "lab/../../evil", content: "x" },
      { name: "lab/evil", type: "2", link: "/etc/passwd" },
      { name: "lab/evil", type: "3" },
    ]) {
      const response = await importTo(there, archive(entry))
      const { error } = (await response.json()) as Problem
      expect([response.status, error]).toEqual([400, expect.stringContaining("evil")])
    }
    const zeros = tarGz([{ name: "zeros", content: new Uint8Array(64 * 1024 * 1024) }])
    expect((await importTo(there, zeros)).status).toBe(400)
    expect((await importTo(there, Buffer.alloc(51 * 1024 * 1024))).status).toBe(413)
    expect(contentOf(there)).toEqual(before)
    expect(await listed()).toEqual(shown)
  })
})
