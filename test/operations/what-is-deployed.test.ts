import type { HandlerRequest } from "@rangewright/application"
import type { RunEvent, User } from "@rangewright/domain"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

describe("the deployed configuration in a range's files", () => {
  let service: RangeService
  let ada: User
  const call = (id: string, request?: Partial<HandlerRequest>) => service.call(id, ada, request)
  const put = async (text: string) => service.putConfig(ada, await service.find("LAB"), text)
  const deploy = async () => service.deploy(ada, await service.find("LAB"))
  const files = async () => ({
    remoteDesktop: await call("getRDP").catch((fault: Error) => fault.message),
    inventory: await call("getAnsibleInventory", { query: {} }),
    all: await call("getAnsibleInventory", { query: { allranges: true } }),
    hosts: await call("getEtcHosts").catch((fault: Error) => fault.message),
    ssh: await call("getSSHConfig"),
    range: new TextDecoder().decode((await call("listRange")) as Uint8Array).replace(/"observedAt":"[^"]*"/u, ""),
  })
  /** Another domain, another OS for the web server, other groups, and one machine less. */
  const edited = () => {
    const { config } = service.lab
    const kali = config.indexOf('  - vm_name: "{{ range_id }}-kali"')
    return (config.slice(0, kali) + config.slice(config.indexOf("\n\n", kali)))
      .replaceAll("corp.example", "other.example")
      .replaceAll("debian-12-x64-server-template", "kali-x64-desktop-template")
      .replaceAll("web_servers", "shops")
  }
  /** The input that the last run gave its steps, as text. */
  const told = (): string => {
    const events = [...service.lab.store.runs.values()].at(-1)?.entries.map(({ event }): RunEvent => event) ?? []
    return JSON.stringify(events.flatMap((event) => (event.type === "Planned" ? event.plan.steps : [])))
  }

  beforeEach(async () => {
    service = makeRangeService()
    ada = await service.addUser("Ada")
    await call("createRange", { body: { name: "Lab", rangeID: "LAB" } })
  })
  afterEach(() => service.close())

  it("is empty before the first deploy", async () => {
    await put(service.lab.config)
    expect(await files()).toMatchObject({
      remoteDesktop: expect.stringContaining("has no Windows machine"),
      hosts: expect.stringContaining("was never deployed"),
    })
    await expect(call("getEtcHosts")).rejects.toMatchObject({
      hint: "Deploy it: `ludus range deploy -r LAB` (POST /range/deploy?rangeID=LAB).",
    })
  })

  it("is what was deployed last, not what was uploaded since", async () => {
    await put(service.lab.config)
    await deploy()
    const before = await files()
    expect(JSON.stringify(before)).toContain("corp")
    await put(edited())
    expect(await files()).toEqual(before)
    await deploy()
    const after = await files()
    expect(JSON.stringify(after)).not.toContain("corp")
    for (const text of ["other", "shops"]) expect(JSON.stringify(after)).toContain(text)
  })

  it("stays the same when the range is shared: its router gets the new users, and no rule that was only uploaded", async () => {
    await put(service.lab.config)
    await deploy()
    const bob = await service.addUser("Bob")
    await put(service.lab.config.replace("192.168.1.0/24", "192.168.77.0/24").replaceAll("-kali", "-attacker"))
    await call("assignRangeToUser", { path: { userID: bob.id, rangeID: "LAB" } })
    expect(told()).toContain("Access Grant: Bob")
    expect(told()).toContain("192.168.1.0/24")
    expect(told()).not.toContain("192.168.77.0/24")
    expect(JSON.parse(told())).toHaveLength(1)
  })

  it("allows sharing even if a role or template is gone that only the uploaded configuration or a removed machine needs", async () => {
    await put(service.lab.config)
    await deploy()
    const kali = [...service.lab.world.vms.values()].find(({ name }) => name === "LAB-kali")
    await call("destroyVM", { path: { vmID: kali?.vmid } })
    for (const [vmid, vm] of service.lab.world.vms)
      if (vm.name === "kali-x64-desktop-template") service.lab.world.vms.delete(vmid)
    const bob = await service.addUser("Bob")
    await call("assignRangeToUser", { path: { userID: bob.id, rangeID: "LAB" } })
    expect(told()).toContain("Access Grant: Bob")
  })

  it("is, while a deploy waits, what that deploy was requested with, whatever is uploaded meanwhile", async () => {
    await put(service.lab.config)
    const { runID: first } = (await call("deployRange")) as { readonly runID: string }
    await call("abortRange")
    await put(edited())
    const { runID } = (await call("deployRange")) as { readonly runID: string }
    await put(service.lab.config.replace("ram_gb: 6", "ram_gb: 8"))
    expect(await service.end(ada, runID)).toMatchObject({ status: "success" })
    expect(first).not.toBe(runID)
    const plans = told()
    expect(plans).toContain("other.example")
    expect(plans).not.toContain("LAB-kali")
    expect(plans).not.toContain("8192")
  })
})
