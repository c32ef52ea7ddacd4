import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, describe, expect, test } from "vitest"
import { tar } from "../contracts/content/support/archives.ts"
import { aRelease } from "../contracts/installer/installer.contract.ts"
import { type GalaxyServer, galaxyServer } from "../contracts/installer/support/galaxy-server.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addUser } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, type ServiceProcess, startService } from "./support/service.ts"
import { startSimulator } from "./support/simulator.ts"

const isThere = ((): boolean => {
  try {
    return execFileSync("sh", ["-c", "command -v ansible-galaxy"], { encoding: "utf8" }) !== ""
  } catch {
    return false
  }
})()

const servers: GalaxyServer[] = []

afterAll(async () => {
  await endAll()
  await Promise.all(servers.map((server) => server.close()))
  removeFolders()
})

/** A service that uses this test's Galaxy server, and one of its users. */
const world = async () => {
  const [simulator, galaxy, data] = [await startSimulator([]), await galaxyServer(), temporaryFolder()]
  servers.push(galaxy)
  const environment = onSimulator(simulator, { RANGEWRIGHT_GALAXY_URL: galaxy.url })
  const start = () => startService(data, environment)
  return { galaxy, data, start }
}

const listed = async (service: ServiceProcess, key: string): Promise<readonly string[]> =>
  (
    await service
      .as(key)
      .get<readonly { readonly name: string; readonly version?: string; readonly global?: boolean }[]>("/ansible")
  ).map(({ name, version = "?", global = false }) => `${name} ${version}${global ? " global" : ""}`)

const uploadRole = (service: ServiceProcess, key: string, filename: string, archive: Uint8Array) => {
  const form = new FormData()
  form.set("file", new File([new Uint8Array(archive)], filename))
  form.set("force", "false")
  return fetch(`${service.url}/api/v2/ansible/role/fromtar`, { method: "PUT", headers: { "X-API-KEY": key }, body: form })
}

describe.skipIf(!isThere)(
  "roles and collections with the real ansible-galaxy (skipped where it is not installed)",
  { timeout: 300_000 },
  () => {
    test("are installed, listed, explained, shared and removed by a user and an administrator", async () => {
      const { galaxy, start } = await world()
      for (const version of ["1.0.0", "1.1.0"])
        galaxy.publish(aRelease("role", "acme.web", version, ["acme.base"], { "defaults/main.yml": "port: 8080\n" }))
      galaxy.publish(aRelease("role", "acme.base", "2.0.0"))
      galaxy.publish(aRelease("collection", "acme.util", "3.0.0"))
      const service = await start()
      const key = await addUser(service.root, "ADA")
      const admin = await addUser(service.root, "BOSS", true)
      const ada = service.as(key)

      expect(await ada.send("POST", "/ansible/role", { role: "acme.web", version: "1.0.0", action: "install" })).toEqual({
        result: "Successfully installed: acme.web,1.0.0",
      })
      await ada.send("POST", "/ansible/collection", { collection: "acme.util" })
      expect(await listed(service, key)).toEqual(["acme.base 2.0.0", "acme.web 1.0.0", "acme.util 3.0.0"])
      expect(await ada.send("POST", "/ansible/role/vars", { roles: ["acme.web"] })).toMatchObject({
        roles: [{ name: "acme.web", vars: { port: 8080 } }],
      })

      // one answer for each name, in their order
      const twice = await ada.send<{ readonly roles: readonly { readonly name: string }[] }>("POST", "/ansible/role/vars", {
        roles: ["acme.web", "acme.none", "acme.web"],
      })
      expect(twice.roles.map(({ name }) => name)).toEqual(["acme.web", "acme.none", "acme.web"])

      const refusals: readonly [string, object, number, RegExp][] = [
        [
          "/ansible/role",
          { role: "acme.web", version: "1.1.0", action: "install" },
          500,
          /acme\.web \(1\.0\.0\) is already installed/u,
        ],
        ["/ansible/role", { role: "acme.nothing", action: "install" }, 500, /not found/u],
        ["/ansible/role", { role: "acme.web", action: "install", global: true }, 403, /Only administrators can perform global/u],
        ["/ansible/role", { role: "acme.web" }, 400, /action/u],
        ["/ansible/role", { role: "acme.gone", action: "remove" }, 409, /is not installed, skipping/u],
        ["/ansible/collection", { collection: "acme.util" }, 409, /already installed/u],
      ]
      for (const [path, body, status, text] of refusals) {
        const answer = await ada.ask<{ readonly error: string }>("POST", path, body)
        expect([answer.status, answer.body.error], path).toEqual([status, expect.stringMatching(text)])
      }

      const archive = tar([
        { name: "site/tasks/main.yml", content: "[]\n" },
        { name: "site/meta/version.yml", content: "version: 0.1.0\n" },
      ])
      expect((await uploadRole(service, key, "acme.site", archive)).status).toBe(201)
      const moved = await service
        .as(admin)
        .send("PATCH", "/ansible/role/scope?userID=ADA", { roles: ["acme.site", "acme.gone"], global: true })
      expect(moved).toMatchObject({ success: ["acme.site"], errors: [{ role: "acme.gone" }] })
      await ada.send("POST", "/ansible/role", { role: "acme.web", version: "1.1.0", action: "install", force: true })
      await ada.send("POST", "/ansible/role", { role: "acme.base", action: "remove" })
      expect(await listed(service, key)).toEqual(["acme.web 1.1.0", "acme.util 3.0.0", "acme.site 0.1.0 global"])
      expect(await listed(service, admin)).toEqual(["acme.site 0.1.0 global"])
    })

    test("are installed completely or not at all when the service is killed in the middle", async () => {
      const { galaxy, data, start } = await world()
      galaxy.publish(aRelease("role", "acme.web", "1.0.0"))
      galaxy.publish(aRelease("role", "acme.slow", "1.0.0"))
      let service = await start()
      const key = await addUser(service.root, "ADA")
      await service.as(key).send("POST", "/ansible/role", { role: "acme.web", action: "install" })
      galaxy.hang(/acme\.slow/u)
      const cut = service
        .as(key)
        .send("POST", "/ansible/role", { role: "acme.slow", action: "install" })
        .catch(() => "cut")
      await eventually(
        "a tool that waits for its archive",
        async () => galaxy.requests.map(({ line }) => line),
        (lines) => lines.some((line) => line.includes("acme.slow-1.0.0")),
      )
      await service.crash()
      expect(await cut).toBe("cut")
      galaxy.hang(/^$/u)
      service = await start()
      expect(await listed(service, key)).toEqual(["acme.web 1.0.0"])
      await service.as(key).send("POST", "/ansible/role", { role: "acme.slow", action: "install" })
      expect(await listed(service, key)).toEqual(["acme.slow 1.0.0", "acme.web 1.0.0"])
      const library = join(data, "library")
      expect(readdirSync(join(library, ".staging"))).toEqual([])
      expect(readFileSync(join(library, "users/ADA/roles/acme.slow/tasks/main.yml"), "utf8")).toContain("1.0.0")
      expect(existsSync(join(library, "global"))).toBe(false)
    })
  },
)
