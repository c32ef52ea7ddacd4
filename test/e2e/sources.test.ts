import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, expect, test } from "vitest"
import type { ApiClient } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addUser, runEnd } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { startService } from "./support/service.ts"

afterAll(async () => {
  await endAll()
  removeFolders()
})

interface Item {
  readonly name: string
  readonly state: string
}
interface Catalog {
  readonly blueprints: { readonly items: readonly { readonly id: string; readonly state: string }[] }
  readonly templates: readonly Item[]
  readonly localRoles: readonly Item[]
}
interface RunLine {
  readonly id: string
  readonly kind: string
  readonly status: string
}

const roles = 60
const filesOfRole = 8

/** A repository with a blueprint that needs many roles, each with several files. */
const makeRepository = (): string => {
  const folder = temporaryFolder()
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const names = Array.from({ length: roles }, (_, n) => `role${n}`)
  write("source.yml", "manifest_version: 1\nname: Many roles\n")
  write("blueprints/lab/blueprint.yml", "id: lab\nname: Lab\nversion: 1.0.0\nconfig: range-config.yml\n")
  const machine = ["vm_name: m", "hostname: m", "template: debian-12-x64-server-template", "vlan: 10", "ip_last_octet: 11"]
  const rest = ["ram_gb: 1", "cpus: 1", "linux: true", `roles: [${names.join(", ")}]`]
  write("blueprints/lab/range-config.yml", `ludus:\n  - ${[...machine, ...rest].join("\n    ")}\n`)
  for (const name of names) {
    write(`ansible/roles/${name}/tasks/main.yml`, `- debug: msg=${name}\n`)
    write(`ansible/roles/${name}/meta/main.yml`, "galaxy_info:\n  description: a role\n")
    for (let n = 0; n < filesOfRole; n += 1) write(`ansible/roles/${name}/files/f${n}.txt`, `${name} ${n}\n`.repeat(200))
  }
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.test", ...args], { cwd: folder, stdio: "ignore" })
  git("init", "--initial-branch=main")
  git("add", "--all")
  git("commit", "--message=all")
  return folder
}

const everything = (catalog: Catalog): readonly string[] =>
  [...catalog.blueprints.items, ...catalog.templates, ...catalog.localRoles].map(({ state }) => state)

const unfinished = async (client: ApiClient): Promise<readonly RunLine[]> =>
  (await client.get<readonly RunLine[]>("/runs")).filter(({ status }) => status === "running")

test.concurrent(
  "a killed service resumes the installation from a source after any step, and leaves nothing half done",
  { timeout: 300_000 },
  async () => {
    const repository = makeRepository()
    const data = temporaryFolder()
    const environment = { RANGEWRIGHT_SOURCE_SCHEMES: "file", RANGEWRIGHT_SOURCE_FOLDERS: dirname(repository) }
    let service = await startService(data, environment)
    const key = await addUser(service.root, "ADA", true)
    const source = await service
      .as(key)
      .send<{ readonly sourceID: string }>("POST", "/sources", { type: "git", url: `file://${repository}`, id: "many" })
    expect(source.sourceID).toBe("many")
    const installed = join(data, "library/users/ADA/roles")
    for (const least of [1, 15, 40]) {
      // the answer never comes: the service dies while it handles the request
      const answer = service
        .as(key)
        .ask("POST", "/sources/many/install", {})
        .catch(() => undefined)
      await Promise.race([
        answer,
        eventually(
          `${least} roles`,
          async () => (existsSync(installed) ? readdirSync(installed).length : 0),
          (count) => count >= least,
        ),
      ])
      await service.crash()
      await answer
      service = await startService(data, environment)
    }
    const admin = service.as(key)
    await eventually(
      "the end of what was cut off",
      () => unfinished(admin),
      (runs) => runs.length === 0,
    )
    expect((await admin.ask("POST", "/sources/many/install", {})).status).toBe(200)
    const catalog = await admin.get<Catalog>("/sources/many/catalog")
    expect(new Set(everything(catalog))).toEqual(new Set(["installed"]))
    expect(catalog.localRoles).toHaveLength(roles)
    for (const role of readdirSync(installed)) expect(readdirSync(join(installed, role, "files"))).toHaveLength(filesOfRole)
    expect(readdirSync(installed)).toHaveLength(roles)
    // the killed process's temporary files are removed
    expect(readdirSync(join(data, "library/.staging"))).toEqual([])
    expect(service.program.stderr()).not.toMatch(/"level":(?:50|60)/u)
    const runs = await admin.get<readonly RunLine[]>("/runs")
    expect(runs.map(({ kind }) => kind)).toContain("source-install")
    for (const { id } of runs) expect((await runEnd(admin, id)).status).toBe("success")
  },
)
