import { afterAll, expect, test } from "vitest"
import { eventually } from "./support/eventually.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, addUser, deploy, expectSuccess, follow, rangeOf, type RunView, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, startService } from "./support/service.ts"
import { type SimulatorProcess, startSimulator } from "./support/simulator.ts"
import type { ApiClient, StreamEvent } from "./support/client.ts"

afterAll(async () => {
  await endAll()
  removeFolders()
})

const ranges = ["ANN", "BOB"] as const

/** The networks of each machine of ours, by its name. */
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

/** The time of the first event of this type in the run's journal. */
const timeOf = async (client: ApiClient, run: string, type: string): Promise<number> => {
  const seen: StreamEvent[] = []
  await follow(client, run, seen)
  return Date.parse(String(seen.find((event) => event.type === type)?.data["at"]))
}

interface Status {
  readonly needs_migration: boolean
  readonly cluster_mode: boolean
  readonly message: string
}

const asCluster = (simulator: SimulatorProcess) =>
  onSimulator(simulator, { RANGEWRIGHT_CLUSTER_MODE: "true", RANGEWRIGHT_LUDUS_NAT_INTERFACE: "ludusnat" })

/** Ranges of `count` machines each, with a router, on bridges of one node; the service's folder and an administrator's key. */
const onBridges = async (simulator: SimulatorProcess, ids: readonly string[], machines: number) => {
  const data = temporaryFolder()
  const alone = await startService(data, onSimulator(simulator, { RANGEWRIGHT_CLUSTER_MODE: "false" }))
  const adminKey = await addUser(alone.root, "ADA", true)
  for (const id of ids) {
    await addLab(alone, id, smallLab(machines))
    await expectSuccess(alone.as(adminKey), await deploy(alone.as(adminKey), id))
  }
  return { data, alone, adminKey }
}

/** Requests the migration and follows its run until the first machine has moved; returns the run's id and the call, still open. */
const migrateUntilFirstMove = async (client: ApiClient) => {
  const call = client.ask("POST", "/migrate/sdn", { ignored: true }).catch(() => undefined)
  const runs = () => client.get<readonly { readonly id: string; readonly kind: string }[]>("/runs")
  const { id } = await eventually(
    "the migration begins",
    async () => (await runs()).find(({ kind }) => kind === "migrate-sdn"),
    (run) => run ?? false,
  )
  await follow(client, id, [], ({ type, data: { key } }) => type === "StepSettled" && key?.startsWith("move:") === true)
  return { id, call }
}

test(
  "a single-node installation becomes a cluster: its networks move, survive a kill and an older rollback, and come back",
  { timeout: 300_000 },
  async () => {
    const simulator = await startSimulator(["--nodes", "3", "--speed", "100"])
    const { data, alone, adminKey } = await onBridges(simulator, ranges, 2)
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
    const ofAnn = (await simulator.guests()).filter(({ pool }) => pool === "ANN")
    const [node, machines] = [ofAnn[0]?.node ?? "", ofAnn.map(({ vmid }) => vmid)]
    const snapshots = (client: ApiClient, what: string) =>
      client.send("POST", `/snapshots/${what}?rangeID=ANN`, { name: "before", vmids: machines, includeRAM: false })
    expect(await snapshots(alone.as(adminKey), "create")).toMatchObject({ success: machines })
    await alone.crash()

    const environment = asCluster(simulator)
    let service = await startService(data, environment)
    const status = () => service.as(adminKey).get<Status>("/migrate/sdn/status")
    expect(await status()).toMatchObject({ needs_migration: true, cluster_mode: true })
    const member = service.as(await addUser(service.root, "MIA"))
    expect((await member.ask("POST", "/migrate/sdn")).status).toBe(403)
    expect((await member.ask("GET", "/migrate/sdn/status")).status).toBe(200)
    // a deploy does not migrate anything in passing
    const refused = await service.as(adminKey).ask("POST", "/range/deploy?rangeID=ANN", {})
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([409, expect.stringContaining("POST /migrate/sdn")])

    // the service dies when the first machine has moved; nobody requests the migration again
    const { id: run, call } = await migrateUntilFirstMove(service.as(adminKey))
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
    // the deploy on the cluster has nothing to do
    for (const id of ranges) await expectSuccess(service.as(adminKey), await deploy(service.as(adminKey), id))
    const moved = await networks(simulator)
    expect(moved["ANN-m1"]).toBe("r2")
    // the bridges of the snapshot are gone: a machine started with its network cards would not come up
    const interfaces = await simulator.read<readonly { readonly iface: string }[]>(`/nodes/${node}/network`)
    expect(interfaces.map(({ iface }) => iface)).not.toContain("vmbr1002")
    expect(await snapshots(service.as(adminKey), "rollback")).toMatchObject({ success: machines })
    expect(await networks(simulator)).toEqual(moved)
    for (const guest of await simulator.guests())
      if (guest.pool === "ANN") expect([guest.name, guest.status]).toEqual([guest.name, "running"])

    const { result } = await service.as(adminKey).send<{ readonly result: string }>("POST", "/migrate/sdn/rollback")
    expect(result).toMatch(/^The return to bridges finished successfully: 6 machines moved[^]*Set cluster_mode: false/u)
    expect(await networks(simulator)).toEqual(before)
    expect(service.program.stderr()).not.toMatch(/"level":(?:50|60)/u)
  },
)

test(
  "deploys and new ranges requested while networks move wait for the migration, even after a kill",
  { timeout: 300_000 },
  async () => {
    const simulator = await startSimulator(["--nodes", "3", "--speed", "100"])
    const { data, alone, adminKey } = await onBridges(simulator, ["ANN"], 1)
    await alone.crash()
    let service = await startService(data, asCluster(simulator))
    const run = (id: string) => service.as(adminKey).get<RunView>(`/runs/${id}`)

    // the second migration is slow, and a loss of quorum makes it wait
    await simulator.fault({ kind: "delay", ms: 500_000, match: { method: "PUT", path: "/nodes/*/qemu/*/config", nth: 2 } })
    const { id: migration, call } = await migrateUntilFirstMove(service.as(adminKey))
    const regained = await simulator.fault({ kind: "quorum-lost" })
    await eventually(
      "the migration waits for the votes",
      () => run(migration),
      ({ waiting }) => waiting?.includes("quorum"),
    )
    expect((await service.as(adminKey).upload("/range/config?rangeID=ANN", smallLab(2))).status).toBe(200)
    const deployment = await deploy(service.as(adminKey), "ANN")
    const waitsForMigration = () =>
      eventually(
        "the deploy waits for the migration",
        () => run(deployment),
        ({ waiting }) => waiting?.includes(migration),
      )
    await waitsForMigration()
    expect((await rangeOf(service.as(adminKey), "ANN")).rangeState).toBe("DEPLOYING")

    // the service dies; nobody requests the migration or the deploy again
    await service.crash()
    await call
    service = await startService(data, asCluster(simulator))
    await waitsForMigration()
    const newcomer = addLab(service, "CAT", smallLab(1))
    expect(Object.keys(await networks(simulator))).not.toContain("ANN-m2")
    await regained()
    await expectSuccess(service.as(adminKey), migration)
    await expectSuccess(service.as(adminKey), deployment)
    expect(await timeOf(service.as(adminKey), deployment, "Planned")).toBeGreaterThanOrEqual(
      await timeOf(service.as(adminKey), migration, "Ended"),
    )
    await newcomer
    await expectSuccess(service.as(adminKey), await deploy(service.as(adminKey), "CAT"))
    const { rangeNumber } = await rangeOf(service.as(adminKey), "CAT")
    expect(await networks(simulator)).toEqual({
      "ANN-m1": "r2",
      "ANN-m2": "r2",
      "ANN-router-debian11-x64": "ludusnat r2",
      "CAT-m1": `r${rangeNumber}`,
      "CAT-router-debian11-x64": `ludusnat r${rangeNumber}`,
    })
    expect(await service.as(adminKey).get<Status>("/migrate/sdn/status")).toMatchObject({ needs_migration: false })
    expect(service.program.stderr()).not.toMatch(/"level":(?:50|60)/u)
  },
)
