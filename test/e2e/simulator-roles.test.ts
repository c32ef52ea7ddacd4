import { afterEach, describe, expect, test } from "vitest"
import { tarGz } from "../contracts/content/support/archives.ts"
import type { ApiClient } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addUser, deploy, expectSuccess, follow, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { type ServiceProcess, startService } from "./support/service.ts"

afterEach(async () => {
  await endAll()
  removeFolders()
})

const id = "LAB"
const withRoles = (roles: string): string => smallLab(1).replace("    linux: true", `    linux: true\n    roles: ${roles}`)
const refusal = (role: string) => expect.stringContaining(`the role "${role}" does not exist on the Ludus server`) as string

describe("roles on the simulator", { timeout: 300_000 }, () => {
  const upload = (user: ApiClient, text: string) => user.upload(`/range/config?rangeID=${id}`, text)
  const install = async (service: ServiceProcess, key: string, name: string): Promise<void> => {
    const form = new FormData()
    const role = tarGz([
      { name: `${name}/tasks/main.yml`, content: "[]\n" },
      { name: `${name}/meta/main.yml`, content: "{}\n" },
    ])
    form.set("file", new File([new Uint8Array(role)], `${name}.tar.gz`))
    form.set("force", "false")
    const init = { method: "PUT", headers: { "X-API-KEY": key }, body: form }
    expect((await fetch(`${service.url}/api/v2/ansible/role/fromtar`, init)).status).toBe(201)
  }

  test("are refused if they are not installed: with the configuration, and with the deploy when they are removed later", async () => {
    const service = await startService(temporaryFolder(), { RANGEWRIGHT_SIMULATOR_SPEED: "600" })
    const key = await addUser(service.root, id)
    const user = service.as(key)
    const text = withRoles('[web, {name: site, depends_on: [{vm_name: "{{ range_id }}-m1", role: web}]}]')
    const refused = await upload(user, text)
    expect(refused.status).toBe(400)
    expect(refused.body.error).toMatch(/^Configuration error:/u)
    expect(refused.body.error).toEqual(refusal("web"))
    expect(refused.body.error).toEqual(refusal("site"))
    await install(service, key, "web")
    const half = await upload(user, text)
    expect(half.body.error).toEqual(refusal("site"))
    expect(half.body.error).not.toEqual(refusal("web"))
    await install(service, key, "site")
    expect((await upload(user, text)).status).toBe(200)
    const runId = await deploy(user, id)
    await follow(user, runId, [])
    await expectSuccess(user, runId)

    await user.send("POST", "/ansible/role", { role: "site", action: "remove" })
    const again = await user.ask<{ readonly error: string }>("POST", `/range/deploy?rangeID=${id}`, { force: true })
    expect([again.status, again.body.error]).toEqual([400, refusal("site")])
  })

  test("run under any name where the operator allows that", async () => {
    const service = await startService(temporaryFolder(), {
      RANGEWRIGHT_SIMULATOR_SPEED: "600",
      RANGEWRIGHT_SIMULATOR_ROLES: "any",
    })
    const user = service.as(await addUser(service.root, id))
    expect((await upload(user, withRoles("[nobody_has, some.body.has]"))).status).toBe(200)
    const runId = await deploy(user, id)
    await follow(user, runId, [])
    await expectSuccess(user, runId)
  })
})
