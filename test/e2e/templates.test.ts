import { hostsObstacle } from "@rangewright/pve-simulator"
import { execFileSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { tar } from "../contracts/content/support/archives.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders } from "./support/folder.ts"
import { addUser } from "./support/lab.ts"
import { endAll, repository } from "./support/program.ts"
import { atRest, openRealLab, type RealLab } from "./support/real-lab.ts"
import type { ServiceProcess } from "./support/service.ts"
import type { Guest } from "./support/simulator.ts"

const missing = ["/usr/bin/packer", "/usr/bin/bwrap"].find((path) => !existsSync(path))
const obstacle = missing === undefined ? await hostsObstacle() : `${missing} is not installed`
const note = obstacle === undefined ? "" : ` (skipped: ${obstacle})`

const version = () =>
  /v(?<number>\d+\.\d+)/u.exec(execFileSync("packer", ["version"], { encoding: "utf8" }))?.groups?.["number"] ?? ""
/** The template of these tests is written for what Debian has, which brings its builders along. */
const tooNew = obstacle === undefined && Number(version().split(".")[1]) >= 9

const patience = 600_000
const name = "small-clone-template"

describe.skipIf(obstacle !== undefined || tooNew)(`templates of a service on real hosts${note}`, { timeout: patience }, () => {
  let lab: RealLab
  let service: ServiceProcess
  let key: string

  const user = () => service.as(key)
  const start = async (): Promise<void> => {
    service = await lab.start()
  }
  beforeAll(async () => {
    lab = await openRealLab(60, "root")
    await start()
    key = await addUser(service.root, "TPL")
  }, patience)
  afterAll(async () => {
    await endAll()
    removeFolders()
  }, patience)

  const upload = async (force: boolean): Promise<Response> => {
    const file = readFileSync(join(repository, "test/e2e/templates/small-clone/small-clone.pkr.hcl"), "utf8")
    const form = new FormData()
    form.set("file", new File([new Uint8Array(tar([{ name: "small-clone/small-clone.pkr.hcl", content: file }]))], "small-clone"))
    form.set("force", String(force))
    return fetch(`${service.url}/api/v2/templates`, { method: "PUT", headers: { "X-API-KEY": key }, body: form })
  }
  const state = async () =>
    (await user().get<readonly { readonly name: string; readonly status: string }[]>("/templates")).find(
      (template) => template.name === name,
    )?.status
  const log = async () => (await user().get<{ readonly result: string }>("/templates/logs")).result
  const build = () =>
    user().send<{ readonly builds: readonly { readonly runID: string }[] }>("POST", "/templates", { templates: [name] })
  const logSays = (pattern: RegExp) =>
    eventually(`${String(pattern)} in the log`, log, (text) => (pattern.test(text) ? text : undefined))
  const guests = () => lab.simulator.read<readonly Guest[]>("/cluster/resources?type=vm")
  /** What builds have on the hypervisor and on the service's host. */
  const left = async () => {
    const pools = await lab.simulator.read<readonly { readonly poolid: string }[]>("/pools")
    const users = await lab.simulator.read<readonly { readonly userid: string }[]>("/access/users")
    const folder = join(lab.data, "template-builds")
    return [
      ...pools.flatMap(({ poolid }) => (poolid.startsWith("rw-build-") ? [poolid] : [])),
      ...users.flatMap(({ userid }) => (userid.startsWith("build-") ? [userid] : [])),
      ...(await guests()).flatMap((guest) => ((guest.pool ?? "").startsWith("rw-build-") ? [guest.name] : [])),
      ...(existsSync(folder) ? readdirSync(folder) : []),
      ...(await lab.running()).filter((line) => /packer|bwrap/u.test(line)),
    ]
  }

  it("come with the service, and are there to be built again when what was built is deleted", async () => {
    const windows = "win2022-server-x64-template"
    const told = { name: windows, os: "windows", description: "Windows Server 2022, localuser:password" }
    const listed = async () =>
      (await user().get<readonly { readonly name: string }[]>("/templates")).find((one) => one.name === windows)
    expect(await listed()).toEqual({ ...told, built: true, status: "built" })
    const admin = service.as(await addUser(service.root, "ADM", true))
    await admin.send("DELETE", `/template/${windows}`)
    expect(await listed()).toEqual({ ...told, built: false, status: "not_built" })
  })

  it("are built from a folder that was uploaded; what is aborted or killed leaves nothing, and the next build begins at once", async () => {
    const first = await upload(false)
    expect([first.status, await first.text()]).toEqual([200, expect.stringContaining(`Successfully added template ${name}`)])
    expect((await upload(false)).status).toBe(400)
    expect((await upload(true)).status).toBe(200)
    expect(await state()).toBe("not_built")

    await build()
    await logSays(/Waiting for SSH|Creating VM/u)
    expect(await state()).toBe("building")
    expect(await user().send("POST", "/templates/abort")).toMatchObject({
      result: expect.stringMatching(/^Aborted the build of/u),
    })
    expect(await left()).toEqual([])
    expect(await log()).toContain("=> Build aborted")

    expect((await build()).builds).toHaveLength(1)
    await logSays(/Connected to SSH/u)
    await service.crash()
    await atRest(lab)
    await start()
    await eventually("the template", state, (is) => (is === "built" ? is : undefined))
    const text = await logSays(/=> Build complete!/u)
    expect(text).toContain("=> The service was restarted: unfinished builds start over")
    await eventually("the end of what the build needed", left, (found) => (found.length === 0 ? true : undefined))
    expect((await guests()).filter((guest) => guest.name === name)).toMatchObject([{ template: 1, pool: "SHARED" }])

    const history = await user().get<readonly { readonly status: string; readonly template: string }[]>("/templates/logs/history")
    expect(history).toMatchObject([
      { status: "success", template: name },
      { status: "aborted", template: name },
    ])
    expect(await user().send("DELETE", `/template/${name}`)).toEqual({ result: `Template ${name} was deleted` })
    expect([await state(), (await guests()).filter((guest) => guest.name === name)]).toEqual([undefined, []])
  })
})
