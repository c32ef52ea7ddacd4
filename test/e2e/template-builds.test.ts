import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { obstacle as ofHosts, patience } from "../../packages/adapter-ansible/test/playbook/support/obstacle.ts"
import { tar } from "../contracts/content/support/archives.ts"
import type { ApiClient } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders } from "./support/folder.ts"
import { addUser, deploy, expectSuccess, follow, rangeOf } from "./support/lab.ts"
import { endAll, repository } from "./support/program.ts"
import { atRest, openRealLab, type RealLab } from "./support/real-lab.ts"
import type { ServiceProcess } from "./support/service.ts"
import { machine } from "./support/shop-lab.ts"
import type { Guest } from "./support/simulator.ts"

const obstacle = ofHosts ?? (existsSync("/usr/bin/packer") ? undefined : "packer is not installed")
const note = obstacle === undefined ? "" : ` (skipped: ${obstacle})`

const rangeId = "BUILDER"
/** Template folders: cloned from another template, and installed from an ISO. */
const folders = ["small-clone", "small-iso"] as const
const [cloned, installed] = ["small-clone-template", "small-iso-template"] as const
const disc = "debian-12.11.0-amd64-netinst.iso"

describe.skipIf(obstacle !== undefined)(`templates of members on real hosts${note}`, { timeout: 2 * patience }, () => {
  let lab: RealLab
  let service: ServiceProcess
  let key: string
  const user = (): ApiClient => service.as(key)
  const two = { RANGEWRIGHT_TEMPLATE_BUILDS: "2" }

  beforeAll(async () => {
    lab = await openRealLab(180)
    await lab.simulator.post("/nodes/pve/storage/local/download-url", {
      content: "iso",
      filename: disc,
      url: `https://images.example/${disc}`,
    })
    service = await lab.start(two)
    key = await addUser(service.root, rangeId)
  }, patience)
  afterAll(async () => {
    lab?.simulator.program.signal("SIGTERM")
    await lab?.simulator.program.ended
    await endAll()
    removeFolders()
  }, patience)

  const upload = async (folder: string, force = false): Promise<readonly [status: number, text: string]> => {
    const path = join(repository, "test/e2e/templates", folder)
    const entries = readdirSync(path, { recursive: true, withFileTypes: true }).flatMap((entry) => {
      const file = join(entry.parentPath, entry.name)
      return entry.isFile() ? [{ name: `${folder}${file.slice(path.length)}`, content: readFileSync(file, "utf8") }] : []
    })
    const form = new FormData()
    // as clients send it: a plain archive, named after the folder
    form.set("file", new File([new Uint8Array(tar(entries))], folder))
    form.set("force", String(force))
    const answer = await fetch(`${service.url}/api/v2/templates`, { method: "PUT", headers: { "X-API-KEY": key }, body: form })
    return [answer.status, await answer.text()]
  }
  interface Builds {
    readonly builds: readonly { readonly template: string; readonly runID: string }[]
  }
  const build = async (...templates: readonly string[]) =>
    (await user().send<Builds>("POST", "/templates", { templates, parallel: 2 })).builds
  /** The log of a build, running or ended. */
  const logOf = async (run: string) => (await user().get<{ readonly result: string }>(`/templates/logs/history/${run}`)).result
  const says = (run: string, pattern: RegExp) =>
    eventually(
      `${String(pattern)} in the log`,
      () => logOf(run),
      (text) => pattern.test(text),
    )
  interface Listed {
    readonly name: string
    readonly built: boolean
    readonly status: string
  }
  const listed = async (name: string) => (await user().get<readonly Listed[]>("/templates")).find((one) => one.name === name)
  const whole = async (run: string): Promise<void> => {
    await follow(user(), run, [])
    await expectSuccess(user(), run)
  }
  const guests = () => lab.simulator.read<readonly Guest[]>("/cluster/resources?type=vm")
  const built = async () =>
    (await guests()).flatMap(({ name, template, pool }) =>
      name.startsWith("small-") && template === 1 ? [`${name} ${pool}`] : [],
    )
  /** Remains of builds on the hypervisor and on the service's host. */
  const leftovers = async () => {
    const pools = await lab.simulator.read<readonly { readonly poolid: string }[]>("/pools")
    const users = await lab.simulator.read<readonly { readonly userid: string }[]>("/access/users")
    return [
      ...pools.flatMap(({ poolid }) => (poolid.startsWith("rw-build-") ? [poolid] : [])),
      ...users.flatMap(({ userid }) => (userid.startsWith("build-") ? [userid] : [])),
      ...(await guests()).flatMap(({ name, pool = "" }) => (pool.startsWith("rw-build-") ? [name] : [])),
      ...readdirSync(join(lab.data, "template-builds")),
      ...(await lab.running()).filter((line) => /packer|bwrap|machine-gate/u.test(line)),
    ]
  }

  it("ship with the service, and can be built again after the built one is deleted", async () => {
    const windows = "win2022-server-x64-template"
    const told = { name: windows, os: "windows", description: "Windows Server 2022, localuser:password" }
    expect(await listed(windows)).toEqual({ ...told, built: true, status: "built" })
    const admin = service.as(await addUser(service.root, "ADM", true))
    await admin.send("DELETE", `/template/${windows}`)
    expect(await listed(windows)).toEqual({ ...told, built: false, status: "not_built" })
  })

  it("are built from uploaded folders; an aborted build leaves nothing, and the next one begins at once", async () => {
    for (const folder of folders)
      expect(await upload(folder)).toEqual([200, expect.stringContaining(`Successfully added template ${folder}-template`)])
    expect((await upload("small-clone"))[0]).toBe(400)
    expect((await upload("small-clone", true))[0]).toBe(200)
    expect((await listed(cloned))?.status).toBe("not_built")
    const builds = await build(cloned, installed)
    await Promise.all(builds.map(({ runID }) => says(runID, /Creating VM/u)))
    expect((await listed(cloned))?.status).toBe("building")
    expect(await user().send("POST", "/templates/abort")).toMatchObject({
      result: expect.stringMatching(/^Aborted the build of/u),
    })
    expect(await leftovers()).toEqual([])
    for (const { runID } of builds) expect(await logOf(runID)).toContain("=> Build aborted")
  })

  it("are built to the end when the service is killed during builds: one template each, and nothing else", async () => {
    const builds = await build(cloned, installed)
    await says(builds[0]?.runID ?? "", /Connected to SSH/u)
    await service.crash()
    await atRest(lab)
    service = await lab.start(two)
    await Promise.all(builds.map(({ runID }) => whole(runID)))
    const logs = await Promise.all(builds.map(({ runID }) => logOf(runID)))
    for (const text of logs) {
      expect(text).toContain("=> The service was restarted: unfinished builds start over")
      expect(text).toMatch(/=> Build complete!/u)
    }
    expect(logs[1]).toMatch(/==> rangewright: 192\.0\.2\.\d+ fetches \/preseed\.cfg/u)
    // Proxmox's list lags up to ten seconds behind a change
    const seen = await eventually("the templates in the list", built, (names) => names.length > 1 && names)
    expect(seen.toSorted()).toEqual([`${cloned} SHARED`, `${installed} SHARED`])
    expect(await leftovers()).toEqual([])
    for (const name of [cloned, installed]) expect(await listed(name)).toMatchObject({ built: true, status: "built" })
    const history = await user().get<readonly { readonly status: string }[]>("/templates/logs/history")
    expect(history.map(({ status }) => status)).toEqual(["success", "success", "aborted", "aborted"])
  })

  it("are used to deploy a range, whose machines have what the builders' provisioners wrote", async () => {
    const { rangeNumber } = await rangeOf(user(), rangeId)
    const config = ["ludus:\n", machine("web", 10), machine("db", 20).replace("debian-12-x64-server-template", installed)]
    const answer = await user().upload(
      `/range/config?rangeID=${rangeId}`,
      config.join("").replace("debian-12-x64-server-template", cloned),
    )
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    await whole(await deploy(user(), rangeId))
    const made = [10, 20].map((vlan) => lab.on(`10.${rangeNumber}.${vlan}.11`, "cat /etc/made-by-packer"))
    expect((await Promise.all(made)).map(({ output }) => output)).toEqual(["built\n", "built from a disc\n"])
    // its disk is linked to the template's
    const refused = await user().ask("DELETE", `/template/${cloned}`)
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([409, expect.stringContaining(`${rangeId}-web`)])
  })
})
