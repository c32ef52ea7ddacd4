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
    lab = await openRealLab(30)
    service = await lab.start()
    key = await addUser(service.root, rangeId)
  }, patience)
  afterAll(async () => {
    lab?.simulator.program.signal("SIGTERM")
    await lab?.simulator.program.ended
    await endAll()
    removeFolders()
  }, patience)

  const upload = async (name: string): Promise<void> => {
    const folder = join(repository, "test/e2e/templates", name)
    const entries = readdirSync(folder).map((file) => ({
      name: `${name}/${file}`,
      content: readFileSync(join(folder, file), "utf8"),
    }))
    const form = new FormData()
    form.set("file", new File([new Uint8Array(tarGz(entries))], `${name}.tar.gz`))
    form.set("force", "false")
    const answer = await fetch(`${service.url}/api/v2/templates`, { method: "PUT", headers: { "X-API-KEY": key }, body: form })
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(template)])
  }
  const build = async (): Promise<string> => {
    const { builds } = await user().send<{ readonly builds: readonly { readonly runID: string }[] }>("POST", "/templates", {
      templates: [template],
    })
    return builds[0]?.runID ?? ""
  }
  const whole = async (run: string): Promise<void> => {
    await follow(user(), run, [])
    await expectSuccess(user(), run)
  }
  const guests = () => lab.simulator.read<readonly Guest[]>("/cluster/resources?type=vm")
  const built = async () => (await guests()).filter(({ name }) => name === template)
  const leftovers = async () => {
    const pools = await lab.simulator.read<readonly { readonly poolid: string }[]>("/pools")
    const users = await lab.simulator.read<readonly { readonly userid: string }[]>("/access/users")
    return [
      ...pools.flatMap(({ poolid }) => (poolid.startsWith("rw-build-") ? [poolid] : [])),
      ...users.flatMap(({ userid }) => (userid.startsWith("build-") ? [userid] : [])),
      ...readdirSync(join(lab.data, "template-builds")),
      ...(await lab.running()).filter((line) => /packer|machine-gate/u.test(line)),
    ]
  }

  it("a build goes on where the service was killed in it, and ends with one template and nothing else", async () => {
    await upload("small-clone")
    const run = await build()
    const packerRuns = (lines: readonly string[]) => lines.some((line) => /\bpacker build\b/u.test(line))
    await eventually("Packer", lab.running, packerRuns)
    await service.crash()
    await atRest(lab)
    service = await lab.start()
    await whole(run)
    // Proxmox's list tells of a change up to ten seconds later
    const seen = await eventually("the template in the list", built, (guests) => guests[0]?.template === 1 && guests)
    expect(seen.map(({ pool }) => pool)).toEqual(["SHARED"])
    expect(await leftovers()).toEqual([])
    const listed = await user().get<readonly { readonly name: string; readonly built: boolean }[]>("/templates")
    expect(listed).toContainEqual(expect.objectContaining({ name: template, built: true }))
  })

  it("a range is deployed from it, and its machine has what the builder's provisioner wrote", async () => {
    const { rangeNumber } = await rangeOf(user(), rangeId)
    const config = `ludus:\n${machine("web", 10).replace("debian-12-x64-server-template", template)}`
    const answer = await user().upload(`/range/config?rangeID=${rangeId}`, config)
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    await whole(await deploy(user(), rangeId))
    expect((await lab.on(`10.${rangeNumber}.10.11`, "cat /etc/made-by-packer")).output).toBe("built\n")
  })
})
