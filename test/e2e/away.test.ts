import { afterAll, describe, expect, test } from "vitest"
import type { Problem, StreamEvent } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, addUser, deploy, expectMachines, expectSuccess, expectWholeStream, follow } from "./support/lab.ts"
import { rangeOf, type RunView, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { openRelay, type Relay } from "./support/relay.ts"
import { type Environment, onSimulator, type ServiceProcess, startService } from "./support/service.ts"
import { type SimulatorProcess, startSimulator } from "./support/simulator.ts"

const relays: Relay[] = []
afterAll(async () => {
  await endAll()
  relays.splice(0).forEach((relay) => relay.close())
  removeFolders()
})

/** A simulator behind a connection that can be cut, and the configuration that uses it. */
const wired = async (
  speed: number,
): Promise<{ readonly simulator: SimulatorProcess; readonly relay: Relay; readonly environment: Environment }> => {
  const simulator = await startSimulator(["--speed", String(speed)])
  const relay = await openRelay(simulator.port)
  relays.push(relay)
  return { simulator, relay, environment: onSimulator({ ...simulator, url: `https://127.0.0.1:${relay.port}` }) }
}

const hypervisorIs = (service: ServiceProcess, wanted: RegExp): Promise<string> =>
  eventually(
    `a hypervisor that is ${wanted}`,
    async () => ((await (await fetch(`${service.url}/readyz`)).json()) as { readonly hypervisor: string }).hypervisor,
    (said) => wanted.test(said) && said,
  )

describe("a hypervisor that is unreachable", { timeout: 300_000 }, () => {
  test.concurrent("at startup leaves reads working, refuses changes with 502, and is used once it is back", async () => {
    const { relay, environment } = await wired(600)
    const data = temporaryFolder()
    const before = await startService(data, environment)
    const key = await addUser(before.root, "ADA", true)
    await addLab(before, "AWAY", smallLab(1))
    await before.crash()
    relay.cut()
    const started = Date.now()

    const service = await startService(data, environment)
    const admin = service.as(key)
    await hypervisorIs(service, /^unreachable since /u)
    const shown = await rangeOf(admin, "AWAY")
    expect(shown).toMatchObject({ rangeID: "AWAY", rangeState: "NEVER DEPLOYED" })
    expect(Date.parse(shown.awaySince ?? "")).toBeGreaterThanOrEqual(started)
    expect(await admin.get("/range/all")).toHaveLength(2)
    const refusals = [
      await admin.ask<Problem>("POST", "/range/deploy?rangeID=AWAY", {}),
      await admin.ask<Problem>("POST", "/ranges/create", { name: "new", rangeID: "NEW" }),
      await admin.ask<Problem>("DELETE", "/range?rangeID=AWAY"),
    ]
    expect(refusals.map(({ status }) => status)).toEqual([502, 502, 502])
    for (const { body } of refusals) expect(body.error).toMatch(/^Cannot /u)
    expect(await rangeOf(admin, "AWAY")).toMatchObject({ rangeState: "NEVER DEPLOYED" })

    relay.restore()
    await hypervisorIs(service, /^ok$/u)
    expect(await rangeOf(admin, "AWAY")).not.toHaveProperty("awaySince")
    await expectSuccess(admin, await deploy(admin, "AWAY"))
  })

  test.concurrent("during a deploy makes the run wait, even across a restart, and continue when it is back", async () => {
    const { simulator, relay, environment } = await wired(120)
    const data = temporaryFolder()
    let service = await startService(data, environment)
    const key = await addUser(service.root, "ADA", true)
    await addLab(service, "AWAY", smallLab(3))
    const runId = await deploy(service.as(key), "AWAY")
    const seen: StreamEvent[] = []
    expect(await follow(service.as(key), runId, seen, ({ type }) => type === "StepSettled")).toBe(true)
    relay.cut()
    expect(await follow(service.as(key), runId, seen, ({ type }) => type === "Waiting")).toBe(true)
    expect(await service.as(key).get<RunView>(`/runs/${runId}`)).toMatchObject({
      status: "running",
      waiting: expect.stringMatching(/./u) as string,
    })
    await service.crash()
    service = await startService(data, environment)
    const admin = service.as(key)
    // other steps may have begun to wait before the crash
    expect(await follow(admin, runId, seen, ({ type }) => type === "Resumed")).toBe(true)
    expect(await follow(admin, runId, seen, ({ type }) => type === "Waiting")).toBe(true)
    expect(await admin.ask<Problem>("POST", "/range/deploy?rangeID=AWAY", {})).toMatchObject({ status: 409 })
    relay.restore()
    await follow(admin, runId, seen)
    await expectSuccess(admin, runId)
    await expectWholeStream(admin, runId, seen)
    await expectMachines(simulator, admin, "AWAY", ["router-debian11-x64", "m1", "m2", "m3"])
  })
})

describe("a hypervisor that does not match the configuration", { timeout: 300_000 }, () => {
  const refusedChange = async (environment: Environment): Promise<{ readonly why: string; readonly error: string }> => {
    const service = await startService(temporaryFolder(), environment)
    const why = await hypervisorIs(service, /^unreachable since /u)
    const answer = await service.root.ask<Problem>("POST", "/user", {
      userID: "UMA",
      name: "Uma",
      email: "uma@lab.example",
      isAdmin: false,
    })
    expect(answer.status).toBe(502)
    // ROOT is not listed
    expect(await service.root.get("/user/all")).toEqual([])
    await service.crash()
    return { why, error: answer.body.error }
  }

  test.concurrent("with another certificate is refused before the token is sent", async () => {
    const simulator = await startSimulator([])
    const { why, error } = await refusedChange(onSimulator({ ...simulator, fingerprint: "AB:".repeat(32).slice(0, -1) }))
    expect(why).toContain(`SHA-256 fingerprint ${simulator.fingerprint}, not the pinned one`)
    expect(error).toContain("not the pinned one")
  })

  test.concurrent("that refuses the token is reported with its own error", async () => {
    const simulator = await startSimulator(["--speed", "100"])
    const { why, error } = await refusedChange(onSimulator({ ...simulator, token: { ...simulator.token, secret: "wrong" } }))
    expect(why).toContain("Proxmox refused the service's credentials")
    expect(error).toContain("Proxmox refused the service's credentials")
    expect(why).not.toContain("wrong")
  })
})
