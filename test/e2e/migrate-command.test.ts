import { afterAll, expect, test } from "vitest"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, addUser, deploy, expectSuccess, smallLab } from "./support/lab.ts"
import { endAll, type Program, start } from "./support/program.ts"
import { onSimulator, serviceEnvironment, startService } from "./support/service.ts"
import { startSimulator } from "./support/simulator.ts"

afterAll(async () => {
  await endAll()
  removeFolders()
})

test(
  "the command line migrates the networks next to a running service, after Ctrl-C, and without a service",
  { timeout: 300_000 },
  async () => {
    const simulator = await startSimulator(["--nodes", "3", "--speed", "100"])
    const data = temporaryFolder()
    const alone = await startService(data, onSimulator(simulator, { RANGEWRIGHT_CLUSTER_MODE: "false" }))
    const adminKey = await addUser(alone.root, "ADA", true)
    await addLab(alone, "ANN", smallLab(3))
    await expectSuccess(alone.as(adminKey), await deploy(alone.as(adminKey), "ANN"))
    await alone.crash()

    const environment = onSimulator(simulator, {
      RANGEWRIGHT_CLUSTER_MODE: "true",
      RANGEWRIGHT_LUDUS_NAT_INTERFACE: "ludusnat",
    })
    const migrate = (...words: readonly string[]): Program =>
      start("server", ["migrate", ...words], { env: serviceEnvironment(data, environment) })
    const ended = async (program: Program) => ({ ...program, code: (await program.ended).code })

    // the administrator of this cluster has prepared no zone
    await simulator.change("DELETE", "/cluster/sdn/vnets/ludusnat")
    await simulator.change("DELETE", "/cluster/sdn/zones/ludus")
    await simulator.change("PUT", "/cluster/sdn")
    const service = await startService(data, environment)
    expect(await ended(migrate("status"))).toMatchObject({ code: 3 })
    const barred = await ended(migrate("sdn", "--yes"))
    expect(barred.code).toBe(1)
    expect(barred.stdout()).toContain("the SDN zone ludus does not exist")
    const refused = await service.as(adminKey).ask("POST", "/migrate/sdn")
    expect(refused.status).toBe(409)
    const zone = "pvesh create /cluster/sdn/zones --type vxlan --zone ludus --peers 10.0.0.11,10.0.0.12,10.0.0.13 --mtu 1450"
    expect(refused.body).toMatchObject({
      error: expect.stringContaining(zone),
      issues: [{ path: "zone-missing", message: expect.stringContaining(zone) }],
    })
    const dry = await ended(migrate("sdn", "--create-zone", "--dry-run", "--json"))
    expect(dry.code).toBe(0)
    expect(JSON.parse(dry.stdout())).toMatchObject({ plan: { direction: "to-sdn", blockers: [], machines: { length: 4 } } })
    const unasked = await ended(migrate("sdn", "--create-zone"))
    expect([unasked.code, unasked.stderr()]).toEqual([2, expect.stringContaining("repeat with --yes")])

    // Ctrl-C ends the command; the service next to it continues the run
    const left = migrate("sdn", "--create-zone", "--yes")
    const [, run = ""] = await left.says(/^Run (\S+)/mu)
    await left.says(/done +Move /u)
    left.signal("SIGINT")
    expect(await left.ended).toMatchObject({ code: 130 })
    expect(left.stderr()).toContain(`run ${run} is not: a running service continues it`)
    await expectSuccess(service.as(adminKey), run)
    const again = await ended(migrate("sdn", "--yes"))
    expect([again.code, again.stdout()]).toEqual([0, expect.stringMatching(/^Nothing to migrate/u)])
    expect((await ended(migrate("report"))).stdout()).toContain(
      "4 of 4 recorded machines have all network cards in the zone ludus.",
    )

    // without a service, the next command continues the run of the first
    await service.crash()
    const first = migrate("rollback", "--yes")
    const [, back = ""] = await first.says(/^Run (\S+)/mu)
    await first.says(/done +Move /u)
    first.signal("SIGINT")
    expect(await first.ended).toMatchObject({ code: 130 })
    const joined = await ended(migrate("rollback", "--yes"))
    expect(joined.stderr()).toContain(`Run ${back} is already running: this command joins it.`)
    expect([joined.code, joined.stdout()]).toEqual([0, expect.stringContaining("The return to bridges finished successfully")])
    expect(await ended(migrate("status"))).toMatchObject({ code: 3 })
  },
)
