import type { HandlerRequest } from "@rangewright/application"
import { type User, wholeDeploy } from "@rangewright/domain"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { makeRangeService, type RangeService } from "./support/range-service.ts"

interface Change {
  readonly kind: string
  readonly object: string
}
interface Result {
  readonly result: string
}

describe("a deploy after machines left the configuration or changed their template", () => {
  let service: RangeService
  let ada: User
  const call = (id: string, request?: Partial<HandlerRequest>) => service.call(id, ada, request)
  const names = () => [...service.lab.world.vms.values()].filter((vm) => !vm.template).map(({ name }) => name)
  const vm = (name: string) => {
    const found = [...service.lab.world.vms.values()].find((one) => one.name === name)
    if (found === undefined) throw new Error(`no VM ${name} among ${names().join(", ")}`)
    return found
  }
  const deploy = async (body?: Record<string, unknown>) => {
    const answer = (await call("deployRange", { body })) as Result & { readonly runID: string }
    return { ...answer, run: await service.end(ada, answer.runID) }
  }
  const put = async (text: string) => ((await service.putConfig(ada, await service.find("LAB"), text)) as Result).result
  /** The company's configuration without its last machine, and with another template for its file server. */
  const edited = () => {
    const { config } = service.lab
    const machines = config.indexOf("ludus:")
    const kali = config.indexOf('  - vm_name: "{{ range_id }}-kali"', machines)
    const rest = config.indexOf("\n\n", kali)
    const without = config.slice(0, kali) + (rest < 0 ? "" : config.slice(rest))
    const files = without.indexOf(`-files01"`)
    return (
      without.slice(0, files) + without.slice(files).replace("win2022-server-x64-template", "win11-22h2-x64-enterprise-template")
    )
  }

  beforeEach(async () => {
    service = makeRangeService()
    ada = await service.addUser("Ada")
    await call("createRange", { body: { name: "Lab", rangeID: "LAB" } })
    expect(await put(service.lab.config)).not.toContain("kept")
    await deploy()
  })
  afterEach(() => service.close())

  it("says when there is nothing to do, and why", async () => {
    expect((await deploy()).result).toMatch(/ started as run \w+\nNothing to do\.$/u)
    const { result } = await deploy({ only_roles: ["acme.nowhere"] })
    expect(result).toContain("\nNothing to do.\nNote: no machine of this range has the role acme.nowhere.")
  })

  it("removes and replaces nothing without an option, and every answer that clients print says so", async () => {
    const before = names()
    const { vmid } = vm("LAB-kali")
    const files = vm("LAB-files01").vmid
    const stored = await put(edited())
    for (const text of [
      stored,
      (await deploy()).result,
      ((await call("deployRange", { body: { dryRun: true } })) as Result).result,
    ]) {
      expect(text).toContain(`Not in the configuration, and kept: LAB-kali (VM ${vmid}).`)
      expect(text).toContain(`LAB-files01 (VM ${files}) from win2022-server-x64-template, not win11-22h2-x64-enterprise-template`)
      expect(text).toContain('"prune": true')
      expect(text).toContain("vm destroy")
    }
    expect(names().toSorted()).toEqual(before.toSorted())
    expect(vm("LAB-files01").vmid).toBe(files)
    const drift = (await call("getRangeDrift")) as { readonly inSync: boolean; readonly differences: readonly Change[] }
    expect(drift).toMatchObject({
      inSync: false,
      differences: expect.arrayContaining([
        expect.objectContaining({ kind: "keep", object: "LAB-kali" }),
        expect.objectContaining({ kind: "keep", object: "LAB-files01" }),
      ]),
    })
    expect(((await call("getLogs", { query: {} })) as Result).result).toMatch(
      /^\[WARNING\]: Not in the configuration, and kept: LAB-kali/mu,
    )
    // a kept machine still belongs to the range
    await call("powerOffRange", { body: { machines: ["LAB-kali"] } })
    expect(vm("LAB-kali").power).toBe("stopped")
    await deploy()
    expect(vm("LAB-kali").power).toBe("stopped")
  })

  it("removes with prune, and replaces with replace, what the plan with the same options shows", async () => {
    await put(edited())
    const changes = async (query: Record<string, unknown>) =>
      ((await call("planRange", { query })) as { readonly changes: readonly Change[] }).changes
        .filter(({ kind }) => kind === "remove" || kind === "replace")
        .map(({ kind, object }) => `${kind} ${object}`)
    expect(await changes({})).toEqual([])
    expect(await changes({ prune: true })).toEqual(["remove LAB-kali"])
    expect(await changes({ replace: true })).toEqual(["replace LAB-files01"])
    const pruned = await deploy({ prune: true })
    expect(pruned.result).not.toContain("LAB-kali")
    expect(pruned.result).toContain("LAB-files01")
    expect(names()).not.toContain("LAB-kali")
    expect((await deploy({ replace: true })).result).not.toContain("kept")
    expect(vm("LAB-files01").description).toContain("win11-22h2-x64-enterprise-template")
    expect(await call("getRangeDrift")).toMatchObject({ inSync: true })
  })

  it("does what a confirmed plan showed, removals included, and nothing if the plan has changed since", async () => {
    await put(edited())
    const plan = async (query: Record<string, unknown>) => (await call("planRange", { query })) as { readonly confirm: string }
    const harmless = await plan({})
    const { confirm } = await plan({ prune: true })
    expect(harmless.confirm).not.toBe(confirm)
    await deploy({ confirm: harmless.confirm })
    expect(names()).toContain("LAB-kali")
    // the deploy in between changed the plan
    await expect(call("deployRange", { body: { confirm } })).rejects.toMatchObject({ kind: "conflict" })
    expect(names()).toContain("LAB-kali")
    const { confirm: again } = await plan({ prune: true })
    await deploy({ confirm: again })
    expect(names()).not.toContain("LAB-kali")
    await expect(call("deployRange", { body: { confirm: again } })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("the plan has changed since it was confirmed"),
    })
  })

  it("resumes a confirmed plan that failed halfway, but not with another configuration", async () => {
    await put(edited())
    const { confirm } = (await call("planRange", { query: { prune: true, replace: true } })) as { readonly confirm: string }
    service.lab.world.fault = ({ action }) => (action?.kind === "guest" ? { when: "before", reason: "failed" } : undefined)
    const { runID, run } = await deploy({ confirm })
    expect(run).not.toMatchObject({ status: "success" })
    expect(names()).not.toContain("LAB-kali")
    service.lab.world.fault = () => undefined
    // with another configuration it could remove what nobody reviewed
    await put(edited().replace("-files01", "-files02"))
    await expect(call("resumeRun", { path: { runID } })).rejects.toMatchObject({
      kind: "conflict",
      message: expect.stringContaining("the configuration of range LAB has changed or was deployed again since"),
    })
    await put(edited())
    const runs = async () => ((await call("listRuns", { query: {} })) as readonly unknown[]).length
    const before = await runs()
    const { plan, ...more } = (await call("resumeRun", { path: { runID }, query: { dryRun: true } })) as Result & {
      readonly plan: { readonly changes: readonly Change[] }
    }
    expect(more).toEqual({ result: expect.stringContaining(`Plan of the rest of run ${runID}: `) })
    expect(plan.changes.filter(({ kind }) => kind === "remove" || kind === "replace")).toEqual([])
    expect(await runs()).toBe(before)
    const resumed = (await call("resumeRun", { path: { runID } })) as { readonly runID: string }
    expect(await service.end(ada, resumed.runID)).toMatchObject({ status: "success" })
    expect(await call("getRangeDrift")).toMatchObject({ inSync: true })
    await expect(call("resumeRun", { path: { runID } })).rejects.toMatchObject({ kind: "conflict" })
  })

  it("shows what a run that failed before it removed anything would remove when it is resumed, and starts nothing", async () => {
    await put(edited())
    service.lab.world.fault = ({ action }) => (action?.kind === "delete" ? { when: "before", reason: "failed" } : undefined)
    const { runID, run } = await deploy({ prune: true })
    expect(run).not.toMatchObject({ status: "success" })
    expect(names()).toContain("LAB-kali")
    service.lab.world.fault = () => undefined
    for (const asked of [{ query: { dryRun: true } }, { body: { dryRun: true } }]) {
      const answer = await call("resumeRun", { path: { runID }, ...asked })
      expect(answer).toMatchObject({
        plan: { changes: expect.arrayContaining([expect.objectContaining({ kind: "remove", object: "LAB-kali" })]) },
      })
      expect(answer).not.toHaveProperty("runID")
    }
    expect(names()).toContain("LAB-kali")
    const { plan } = (await call("resumeRun", { path: { runID }, body: { dryRun: true } })) as {
      readonly plan: { readonly confirm: string }
    }
    const resumed = (await call("resumeRun", { path: { runID }, body: { confirm: plan.confirm } })) as { readonly runID: string }
    await service.end(ada, resumed.runID)
    expect(names()).not.toContain("LAB-kali")
    // what could not be resumed cannot be planned either
    await expect(call("resumeRun", { path: { runID: resumed.runID }, query: { dryRun: true } })).rejects.toMatchObject({
      kind: "conflict",
    })
  })

  it("resumes nothing when the rest is no longer what was confirmed, or was never a plan", async () => {
    await put(edited())
    service.lab.world.fault = ({ action }) => (action?.kind === "delete" ? { when: "before", reason: "failed" } : undefined)
    const { runID } = await deploy({ prune: true })
    service.lab.world.fault = () => undefined
    const { plan } = (await call("resumeRun", { path: { runID }, body: { dryRun: true } })) as {
      readonly plan: { readonly confirm: string }
    }
    // a machine more is off: the rest starts it too
    await call("powerOffRange", { body: { machines: [names().find((name) => name !== "LAB-kali") ?? ""] } })
    await service.end(ada, ((await call("listRuns", { query: {} })) as readonly { readonly id: string }[])[0]?.id ?? "")
    const cannot = `Cannot resume run ${runID} of range LAB: `
    const hint = expect.stringContaining(`POST /runs/${runID}/resume with dryRun`)
    for (const dryRun of [{}, { dryRun: true }]) {
      await expect(call("resumeRun", { path: { runID }, body: { ...dryRun, confirm: plan.confirm } })).rejects.toMatchObject({
        kind: "conflict",
        message: `${cannot}the plan has changed since it was confirmed`,
        hint,
      })
      await expect(call("resumeRun", { path: { runID }, body: { ...dryRun, confirm: "nonsense" } })).rejects.toMatchObject({
        kind: "invalid",
        message: `${cannot}confirm does not come from a plan`,
        hint,
      })
    }
    expect(names()).toContain("LAB-kali")
    // nor is the plan of anything but a deploy
    service.lab.world.fault = ({ action }) => (action?.kind === "delete" ? { when: "before", reason: "failed" } : undefined)
    await call("deleteRangeVMs").catch(() => undefined)
    const [removal] = (await call("listRuns", { query: {} })) as readonly { readonly id: string }[]
    await service.end(ada, removal?.id ?? "")
    await expect(call("resumeRun", { path: { runID: removal?.id }, body: { confirm: plan.confirm } })).rejects.toMatchObject({
      kind: "invalid",
      message: `Cannot resume run ${removal?.id} of range LAB: only the plan of a deploy can be confirmed`,
    })
  })

  it("refuses a forged confirmation, and options next to a confirmation", async () => {
    const { confirm } = (await call("planRange", { query: {} })) as { readonly confirm: string }
    const [options = "", fingerprint = ""] = confirm.split(".")
    const forged = [
      "",
      "nonsense",
      options,
      `${options}.`,
      `${options}.${fingerprint}.${fingerprint}`,
      `.${fingerprint}`,
      `e30.${fingerprint}`,
      `${Buffer.from(JSON.stringify({ kind: "delete-range", force: true })).toString("base64url")}.${fingerprint}`,
      "x".repeat(1_000_000),
    ]
    for (const one of forged)
      await expect(call("deployRange", { body: { confirm: one } })).rejects.toMatchObject({ kind: "invalid" })
    await expect(call("deployRange", { body: { confirm, prune: true } })).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringContaining("prune"),
    })
    const zeros = `${options}.${"0".repeat(32)}`
    await expect(call("deployRange", { body: { confirm: zeros } })).rejects.toMatchObject({ kind: "conflict" })
  })

  it("does not mention a machine that was removed by its number", async () => {
    await put(edited())
    await call("destroyVM", { path: { vmID: vm("LAB-kali").vmid } })
    const { result } = await deploy()
    expect(result).not.toContain("LAB-kali")
    expect(names()).not.toContain("LAB-kali")
  })

  it("that would fail is announced by the upload: a new machine with the address of a kept one", async () => {
    const renamed = service.lab.config.replaceAll("-kali", "-attacker")
    expect(await put(renamed)).toMatch(
      /Warning: Cannot .*LAB-attacker should get 10\.1\.\d+\.\d+, which LAB-kali \(VM \d+\) has/u,
    )
    await expect(call("deployRange")).rejects.toMatchObject({ kind: "precondition" })
    await deploy({ prune: true })
    expect(names()).toContain("LAB-attacker")
    expect(names()).not.toContain("LAB-kali")
  })

  it("caused by sharing removes nothing either, and removal is off by default", async () => {
    await put(edited())
    const before = names()
    const bob = await service.addUser("Bob")
    await call("assignRangeToUser", { path: { userID: bob.id, rangeID: "LAB" } })
    expect(names()).toEqual(before)
    expect(wholeDeploy).toMatchObject({ prune: false, replace: false })
  })
})
