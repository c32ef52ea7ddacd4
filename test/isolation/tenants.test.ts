import { execFileSync } from "node:child_process"
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { obstacle, patience, sandboxObstacle, skipNote } from "../../packages/adapter-ansible/test/playbook/support/obstacle.ts"
import { rangeOf } from "../e2e/support/lab.ts"
import { programs } from "./support/outside-world.ts"
import { allProbes, fewProbes, oddProbes, type Probe, withoutSandbox } from "./support/probes.ts"
import { addFiles, deployed, openTenants, rangeOfMachines, rolesRun, type Tenants, wear } from "./support/tenants.ts"
import { collection, honest, liar, spy, templates, vectors } from "./support/vectors.ts"

type Told = Readonly<Record<string, { readonly succeeded: boolean; readonly said: string }>>

const without = obstacle ?? sandboxObstacle

describe.skipIf(without !== undefined)(`two tenants on real hosts${skipNote(without)}`, { timeout: 2 * patience }, () => {
  let tenants: Tenants
  let probes: readonly Probe[]
  const succeeded = (told: Told) => Object.entries(told).flatMap(([name, one]) => (one.succeeded ? [name] : []))
  const machines = ["own", "helper"]
  const attack = () => {
    const { role_vars, global_role_vars } = templates
    return rangeOfMachines(machines, { roles: ["spy"], role_vars }, { global_role_vars })
  }
  /** The JSON that a role left on its machine. */
  const left = async <A>(path: string): Promise<A> => {
    const { lab, attacker } = tenants
    const { code, output, errors } = await lab.on(attacker.at(11), `cat ${path}; rm ${path}`)
    expect({ code, errors }).toEqual({ code: 0, errors: "" })
    return JSON.parse(output) as A
  }

  beforeAll(async () => {
    tenants = await openTenants()
    const { attacker, victim, lab, targets, world } = tenants
    probes = allProbes(targets)
    await victim.setConfig(rangeOfMachines(["crown"]))
    await attacker.setConfig(rangeOfMachines(machines))
    await Promise.all([deployed(victim), deployed(attacker)])
    await attacker.addRole("spy", spy(probes, fewProbes(targets)))
    await attacker.addRole("liar", liar(targets.machine))
    await attacker.addRole("honest", honest(world.certificate))
    addFiles(lab.data, `library/users/${attacker.id}/collections/ansible_collections`, collection)
    addFiles(lab.data, `library/users/${victim.id}/roles/his`, { "vars/main.yml": "his: own\n" })
    addFiles(lab.data, `playbook-runs/workspaces/range-of-${victim.id}/${victim.id}`, { note: "his own\n" })
  }, 2 * patience)
  afterAll(() => tenants?.close(), patience)

  it("the probes' targets exist: without the defense the probes succeed", async () => {
    // as in a role: probes change the role's own files and its name
    const files = join(tenants.targets.operators, "spy/files")
    const [prober, list] = [join(files, "prober.py"), join(files, "probes.json")]
    mkdirSync(files, { recursive: true })
    copyFileSync(join(programs, "prober.py"), prober)
    writeFileSync(list, JSON.stringify(probes))
    const { output, errors } = await tenants.onHost("env", `TOKEN=${tenants.targets.secret}`, "python3", prober, list, "open")
    expect(errors).toBe("")
    const told = JSON.parse(output) as Told
    const failed = Object.entries(told).filter(([name, one]) => !one.succeeded && !oddProbes.has(name))
    expect(Object.fromEntries(failed)).toEqual({})
  })

  it("no probe succeeds from where tools run, in whatever way a tenant gets it there", async () => {
    expect(probes.length).toBeGreaterThanOrEqual(60)
    await tenants.attacker.setConfig(attack())
    expect(await rolesRun(tenants.attacker)).toMatchObject({ status: "success" })
    const told = await left<Readonly<Record<string, Told>>>("/tmp/told")
    expect(Object.keys(told).toSorted()).toEqual([...vectors].toSorted())
    expect(Object.keys(told["task"] ?? {})).toEqual(probes.map(({ name }) => name))
    expect(Object.fromEntries(Object.entries(told).map(([way, one]) => [way, succeeded(one)]))).toEqual(
      Object.fromEntries(vectors.map((way) => [way, []])),
    )
  })

  it("a machine that lies about itself, and a role that names another tenant's machine, reach nothing else", async () => {
    const { attacker } = tenants
    await attacker.setConfig(rangeOfMachines(machines, { roles: ["liar"] }))
    await rolesRun(attacker)
    const told = await left<{ readonly answered: string; readonly left: readonly string[]; readonly others: readonly string[] }>(
      "/tmp/lied",
    )
    expect(told).toMatchObject({ answered: `${attacker.id}-own`, others: ["", "", "", ""] })
    expect(told.left).not.toContain("facts-ran")
    const { result } = await attacker.client.get<{ readonly result: string }>(`/range/logs?rangeID=${attacker.id}`)
    expect(result).toContain("may not be reached from here: it is neither in this range nor public")
    expect([...result].filter((letter) => letter < " " && letter !== "\n" && letter !== "\t")).toEqual([])
  })

  it("honest roles still work: downloads, their own range, facts and files", async () => {
    const { attacker, world } = tenants
    writeFileSync(join(world.files, "file"), "from the internet")
    execFileSync("sh", ["-c", repository], { cwd: world.files })
    await attacker.setConfig(rangeOfMachines(machines, { roles: ["honest"] }))
    const { status, message } = await rolesRun(attacker)
    expect(status, message).toBe("success")
    const told = await left<Readonly<Record<string, string>>>("/tmp/honest")
    const same = ["plain", "secure", "fetched", "looked_up", "asked", "curled_securely", "by_python", "brought"]
    expect(told).toEqual({
      ...Object.fromEntries(same.map((name) => [name, "from the internet"])),
      curled: "from the internetfrom the internet",
      cloned: "cloned",
      note: `${attacker.id} ${attacker.id}-own ${attacker.at(12)}`,
      helper: `${attacker.id}-helper`,
      router: `${attacker.id}-router`,
    })
  })

  it("without the sandbox the same role succeeds, so the sandbox is what stops it", async () => {
    await tenants.restart({ RANGEWRIGHT_ANSIBLE_SANDBOX: "off" })
    const { attacker, targets } = tenants
    // the service has a new process by now
    await attacker.addRole("spy", spy(fewProbes(targets), fewProbes(targets)))
    await attacker.setConfig(attack())
    expect(await rolesRun(attacker)).toMatchObject({ status: "success" })
    const told = await left<Readonly<Record<string, Told>>>("/tmp/told")
    for (const way of vectors) expect(succeeded(told[way] ?? {}), way).toEqual(expect.arrayContaining([...withoutSandbox]))
  })

  it("a machine that takes another tenant's address is neither contacted nor shown there", async () => {
    const { attacker, targets } = tenants
    await attacker.setConfig(rangeOfMachines(machines, { roles: ["liar"] }))
    const { machine } = targets
    await wear(tenants, `${attacker.id}-own`, machine)
    expect((await rolesRun(attacker)).message).toContain(`reports the address ${machine}, which does not belong to it`)
    const { VMs } = await rangeOf(attacker.client, attacker.id)
    expect(VMs.map(({ ip }) => ip)).not.toContain(machine)
  })
})

/** A repository served by a plain file server. */
const repository = `set -e
export HOME=$PWD GIT_AUTHOR_NAME=lab GIT_AUTHOR_EMAIL=lab@lab.example GIT_COMMITTER_NAME=lab GIT_COMMITTER_EMAIL=lab@lab.example
git init -q work && printf cloned > work/README && git -C work add README && git -C work commit -qm first
git clone -q --bare work repository.git && git -C repository.git update-server-info`
