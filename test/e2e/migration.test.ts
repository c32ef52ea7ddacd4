import { afterAll, expect, test } from "vitest"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, addUser, deploy, expectSuccess, follow, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, startService } from "./support/service.ts"
import { type SimulatorProcess, startSimulator } from "./support/simulator.ts"
import type { StreamEvent } from "./support/client.ts"

afterAll(async () => {
  await endAll()
  removeFolders()
})

const ranges = ["ANN", "BOB"] as const

/** The networks that each machine of ours hangs on, by its name. */
const networks = async (simulator: SimulatorProcess): Promise<Readonly<Record<string, string>>> => {
  const found: Record<string, string> = {}
  for (const { name, node, vmid } of await simulator.guests()) {
    const config = await simulator.read<Readonly<Record<string, unknown>>>(`/nodes/${node}/qemu/${vmid}/config`)
    const cards = Object.keys(config).filter((key) => /^net\d+$/u.test(key))
    found[name] = cards
      .toSorted()
      .map((key) => /bridge=([^,]*)/u.exec(String(config[key]))?.[1])
      .join(" ")
  }
  return found
}

interface Status {
  readonly needs_migration: boolean
  readonly cluster_mode: boolean
  readonly message: string
}

test(
  "an installation that began on one node becomes a cluster: its networks move, also past a kill, and come back",
  { timeout: 180_000 },
  async () => {
    const simulator = await startSimulator(["--nodes", "3", "--speed", "100"])
    const data = temporaryFolder()
    const alone = await startService(data, onSimulator(simulator, { RANGEWRIGHT_CLUSTER_MODE: "false" }))
    const adminKey = await addUser(alone.root, "ADA", true)
    for (const id of ranges) {
      await addLab(alone, id, smallLab(2))
      await expectSuccess(alone.as(adminKey), await deploy(alone.as(adminKey), id))
    }
    const before = await networks(simulator)
    expect(before).toMatchObject({
      "ANN-m1": "vmbr1002",
      "ANN-router-debian11-x64": "vmbr1000 vmbr1002",
      "BOB-m2": "vmbr1003",
    })
    expect(await alone.as(adminKey).get<Status>("/migrate/sdn/status")).toMatchObject({
      needs_migration: false,
      cluster_mode: false,
    })
    await alone.crash()

    const environment = onSimulator(simulator, {
      RANGEWRIGHT_CLUSTER_MODE: "true",
      RANGEWRIGHT_LUDUS_NAT_INTERFACE: "ludusnat",
    })
    let service = await startService(data, environment)
    const status = () => service.as(adminKey).get<Status>("/migrate/sdn/status")
    expect(await status()).toMatchObject({ needs_migration: true, cluster_mode: true })
    const member = service.as(await addUser(service.root, "MIA"))
    expect((await member.ask("POST", "/migrate/sdn")).status).toBe(403)
    expect((await member.ask("GET", "/migrate/sdn/status")).status).toBe(200)

    // the service dies when the first machine has moved; nobody calls again
    const call = service
      .as(adminKey)
      .ask("POST", "/migrate/sdn", { ignored: true })
      .catch(() => undefined)
    const runs = () => service.as(adminKey).get<readonly { readonly id: string; readonly kind: string }[]>("/runs")
    let run: string | undefined
    while (run === undefined) run = (await runs()).find(({ kind }) => kind === "migrate-sdn")?.id
    const seen: StreamEvent[] = []
    await follow(
      service.as(adminKey),
      run,
      seen,
      ({ type, data: { key } }) => type === "StepSettled" && key?.startsWith("move:") === true,
    )
    await service.crash()
    await call
    service = await startService(data, environment)
    await expectSuccess(service.as(adminKey), run)

    const successor = (names: string): string =>
      names.replaceAll("vmbr1000", "ludusnat").replaceAll(/vmbr1(\d{3})/gu, (_, n: string) => `r${Number(n)}`)
    expect(await networks(simulator)).toEqual(
      Object.fromEntries(Object.entries(before).map(([name, names]) => [name, successor(names)])),
    )
    expect(await status()).toMatchObject({ needs_migration: false })
    const again = await service.as(adminKey).send<{ readonly result: string }>("POST", "/migrate/sdn")
    expect(again.result).toMatch(/^Nothing to migrate/u)
    // a cluster's deploy finds everything as it should be
    for (const id of ranges) await expectSuccess(service.as(adminKey), await deploy(service.as(adminKey), id))
    expect((await networks(simulator))["ANN-m1"]).toBe("r2")

    const { result } = await service.as(adminKey).send<{ readonly result: string }>("POST", "/migrate/sdn/rollback")
    expect(result).toMatch(/^The return to bridges finished successfully: 6 machines moved/u)
    expect(await networks(simulator)).toEqual(before)
    expect(service.program.stderr()).not.toMatch(/"level":(?:50|60)/u)
  },
)
