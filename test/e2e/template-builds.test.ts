import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { obstacle as ofHosts, patience } from "../../packages/adapter-ansible/test/playbook/support/obstacle.ts"
import { tarGz } from "../contracts/content/support/archives.ts"
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
const template = "small-clone-template"

describe.skipIf(obstacle !== undefined)(`templates of members on real hosts${note}`, { timeout: 2 * patience }, () => {
  let lab: RealLab
  let service: ServiceProcess
  let key: string
  const user = (): ApiClient => service.as(key)

  beforeAll(async () => {
    lab = await openRealLab(60)
    service = await lab.start()
    key = await addUser(service.root, rangeId)
  }, patience)
  afterAll(async () => {
    lab?.simulator.program.signal("SIGTERM")
    await lab?.simulator.program.ended
    await endAll()
    removeFolders()
  }, patience)

  const upload = async (force: boolean): Promise<readonly [status: number, text: string]> => {
    const folder = join(repository, "test/e2e/templates/small-clone")
    const entries = readdirSync(folder).map((file) => ({
      name: `small-clone/${file}`,
      content: readFileSync(join(folder, file), "utf8"),
    }))
    const form = new FormData()
    form.set("file", new File([new Uint8Array(tarGz(entries))], "small-clone.tar.gz"))
    form.set("force", String(force))
    const answer = await fetch(`${service.url}/api/v2/templates`, { method: "PUT", headers: { "X-API-KEY": key }, body: form })
    return [answer.status, await answer.text()]
  }
  const build = async (): Promise<string> => {
    const { builds } = await user().send<{ readonly builds: readonly { readonly runID: string }[] }>("POST", "/templates", {
      templates: [template],
    })
    return builds[0]?.runID ?? ""
  }
  const log = async () => (await user().get<{ readonly result: string }>("/templates/logs")).result
  const logSays = (pattern: RegExp) => eventually(`${String(pattern)} in the log`, log, (text) => pattern.test(text))
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
  const built = async () => (await guests()).filter(({ name }) => name === template)
  /** What builds have on the hypervisor and on the service's host. */
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

  it("come with the service, and are there to be built again when what was built is deleted", async () => {
    const windows = "win2022-server-x64-template"
    const told = { name: windows, os: "windows", description: "Windows Server 2022, localuser:password" }
    expect(await listed(windows)).toEqual({ ...told, built: true, status: "built" })
    const admin = service.as(await addUser(service.root, "ADM", true))
    await admin.send("DELETE", `/template/${windows}`)
    expect(await listed(windows)).toEqual({ ...told, built: false, status: "not_built" })
  })

  it("are built from a folder that was uploaded; what is aborted leaves nothing, and the next build begins at once", async () => {
    expect(await upload(false)).toEqual([200, expect.stringContaining(`Successfully added template ${template}`)])
    expect((await upload(false))[0]).toBe(400)
    expect((await upload(true))[0]).toBe(200)
    expect((await listed(template))?.status).toBe("not_built")
    await build()
    await logSays(/Waiting for SSH|Creating VM/u)
    expect((await listed(template))?.status).toBe("building")
    expect(await user().send("POST", "/templates/abort")).toMatchObject({
      result: expect.stringMatching(/^Aborted the build of/u),
    })
    expect(await leftovers()).toEqual([])
    expect(await log()).toContain("=> Build aborted")
  })

  it("a build goes on where the service was killed in it, and ends with one template and nothing else", async () => {
    const run = await build()
    await logSays(/Connected to SSH/u)
    await service.crash()
    await atRest(lab)
    service = await lab.start()
    await whole(run)
    const text = await log()
    expect(text).toContain("=> The service was restarted: unfinished builds start over")
    expect(text).toMatch(/=> Build complete!/u)
    // Proxmox's list tells of a change up to ten seconds later
    const seen = await eventually("the template in the list", built, (guests) => guests[0]?.template === 1 && guests)
    expect(seen.map(({ pool }) => pool)).toEqual(["SHARED"])
    expect(await leftovers()).toEqual([])
    expect(await listed(template)).toMatchObject({ built: true, status: "built" })
    expect(await user().get("/templates/logs/history")).toMatchObject([
      { status: "success", template },
      { status: "aborted", template },
    ])
  })

  it("a range is deployed from it, and its machine has what the builder's provisioner wrote", async () => {
    const { rangeNumber } = await rangeOf(user(), rangeId)
    const config = `ludus:\n${machine("web", 10).replace("debian-12-x64-server-template", template)}`
    const answer = await user().upload(`/range/config?rangeID=${rangeId}`, config)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    await whole(await deploy(user(), rangeId))
    expect((await lab.on(`10.${rangeNumber}.10.11`, "cat /etc/made-by-packer")).output).toBe("built\n")
    // its disk is linked to the template's
    const refused = await user().ask("DELETE", `/template/${template}`)
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([409, expect.stringContaining(`${rangeId}-web`)])
  })
})
