import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, expect, test } from "vitest"
import { eventually } from "./support/eventually.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, deploy, expectMachines, expectSuccess, type RangeView, rangeOf, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, startService } from "./support/service.ts"
import { type Guest, type SimulatorProcess, startSimulator } from "./support/simulator.ts"
import { oldTables } from "../migration/support/old-tables.ts"

afterAll(async () => {
  await endAll()
  removeFolders()
})

/** A first-generation key and its bcrypt hash, made by another program. */
const oldKey = "JD._7Gx2T5kTUSD%uTWZ*lFi=Os6MpFR^OrG+yT94Xt"
const oldHash = "$2b$04$abcdefghijklmnopqrstuu7mj0gnDIEetXvxbxGxymJLeDAPu9P7K"

/** Bytes that parsing and rewriting the configuration would change. */
const config = `\ufeff${smallLab(2).replaceAll("\n", "\r\n")}# mine\r\n`

const machines = ["router-debian11-x64", "m1", "m2"] as const

type VmConfig = Readonly<Record<string, string | undefined>>
const configOf = (simulator: SimulatorProcess, { node, vmid }: Guest) =>
  simulator.read<VmConfig>(`/nodes/${node}/qemu/${vmid}/config`)

/** The MAC addresses of all network cards of a VM. */
const macsOf = (vm: VmConfig): readonly string[] =>
  Object.keys(vm)
    .filter((key) => /^net\d+$/u.test(key))
    .toSorted()
    .map((key) => /([0-9A-F]{2}:){5}[0-9A-F]{2}/u.exec(vm[key] ?? "")?.[0] ?? "")

const guestsOf = async (simulator: SimulatorProcess): Promise<readonly Guest[]> =>
  (await simulator.guests()).filter(({ pool }) => pool === "JD").toSorted((a, b) => a.vmid - b.vmid)

/** Turns our VMs into first-generation ones: no mark, no tag, network cards as the hypervisor chooses, no comment on the bridge. */
const makeOld = async (simulator: SimulatorProcess, bridge: string): Promise<void> => {
  for (const guest of await guestsOf(simulator)) {
    const vm = await configOf(simulator, guest)
    const nics = Object.entries(vm).flatMap(([key, value]) => (/^net\d+$/u.test(key) ? [[key, value ?? ""] as const] : []))
    const foreign = nics.map(([key, value], i) => [
      key,
      value.replace(/([0-9A-F]{2}:){5}[0-9A-F]{2}/u, `BC:24:11:00:${guest.vmid % 90}:1${i}`),
    ])
    await simulator.post(`/nodes/${guest.node}/qemu/${guest.vmid}/config`, {
      description: `{"groups": ["JD_all", "JD_linux",]}`,
      delete: "tags",
      ...Object.fromEntries(foreign),
    })
  }
  const [{ node } = { node: "" }] = await guestsOf(simulator)
  await simulator.change("PUT", `/nodes/${node}/network/${bridge}`, {
    type: "bridge",
    autostart: "1",
    bridge_vlan_aware: "1",
    comments: "ludus",
  })
  await simulator.change("PUT", `/nodes/${node}/network`)
  await simulator.post("/access/users", { userid: "jd@pam" })
}

/** The first generation's records of it: its database and files. */
const writeOldFiles = (folder: string, number: number, guests: readonly Guest[]): void => {
  const database = new DatabaseSync(join(folder, "ludus.db"))
  database.exec(`
    ${oldTables}
    insert into user_objects values ('Jo Doe', 'JD', '2024-02-03 04:05:06+00:00', null, 1, '${oldHash}', 'jd', 0);
    insert into user_objects values ('root', 'ROOT', null, null, 1, '', 'root', 0);
    insert into range_objects values ('JD', ${number}, '2024-05-06 07:08:09+00:00', 3, 0, '', '', 'SUCCESS');
  `)
  const row = database.prepare("insert into vm_objects values (?, ?, ?, ?, 1, ?)")
  guests.forEach(({ vmid, name }, i) => row.run(i, vmid, number, name, `10.${number}.10.${i + 11}`))
  database.close()
  mkdirSync(join(folder, "users/jd"), { recursive: true })
  writeFileSync(join(folder, "users/jd/range-config.yml"), config)
  writeFileSync(join(folder, "users/jd/proxmox_password"), "an old password\n")
}

test(
  "an installation of the first generation is imported with its keys, its configuration and its running machines",
  { timeout: 300_000 },
  async () => {
    const simulator = await startSimulator(["--speed", "100"])
    const before = await startService(temporaryFolder(), onSimulator(simulator))
    const maker = await addLab(before, "JD", smallLab(2))
    await expectSuccess(maker, await deploy(maker, "JD"))
    const { rangeNumber } = await rangeOf(maker, "JD")
    await before.crash()
    await makeOld(simulator, `vmbr${1000 + rangeNumber}`)
    const guests = await guestsOf(simulator)
    const cards = async () => Promise.all(guests.map(async (guest) => macsOf(await configOf(simulator, guest))))
    const macs = await cards()
    expect(macs.flat().every((mac) => mac.startsWith("BC:24:11:"))).toBe(true)
    const old = temporaryFolder()
    writeOldFiles(old, rangeNumber, guests)
    const bytes = readFileSync(join(old, "ludus.db"))

    const service = await startService(temporaryFolder(), onSimulator(simulator, { RANGEWRIGHT_LEGACY_DIRECTORY: old }))
    const migrate = async (query = ""): Promise<readonly string[]> =>
      (await service.root.send<{ readonly result: string }>("POST", `/migrate/sqlite${query}`)).result.split("\n")
    expect(await migrate("?dryRun=true")).toEqual([
      "The migration would import 1 user, 1 range, 0 further grants of access and 3 machines.",
      "ROOT keeps the key of this service, in the file root-api-key of its data folder; the command root-key gives it the older one.",
    ])
    expect((await service.as(oldKey).ask("GET", "/user")).status).toBe(401)
    expect((await migrate())[0]).toBe(
      "The migration is complete: 1 user, 1 range, 0 further grants of access and 3 machines imported.",
    )

    const owner = service.as(oldKey)
    expect(await owner.get("/user")).toMatchObject([{ userID: "JD", name: "Jo Doe", isAdmin: true, proxmoxUsername: "jd" }])
    expect(await owner.get("/user/credentials?userID=JD")).toMatchObject({
      result: { proxmoxUsername: "jd", proxmoxRealm: "pam", proxmoxPassword: "an old password" },
    })
    expect(await owner.get("/range")).toMatchObject({
      rangeNumber,
      rangeState: "SUCCESS",
      lastDeployment: "2024-05-06T07:08:09.000Z",
      numberOfVMs: machines.length,
    })
    await expectMachines(simulator, owner, "JD", machines)
    expect((await owner.get<{ readonly result: string }>("/range/config")).result).toBe(config)

    expect(await migrate()).toEqual(["The migration is complete: there is nothing more to import."])
    expect(readFileSync(join(old, "ludus.db")).equals(bytes)).toBe(true)
    expect(readdirSync(old).toSorted()).toEqual(["ludus.db", "users"])

    await expectSuccess(owner, await deploy(owner, "JD"))
    expect((await guestsOf(simulator)).map(({ vmid, name }) => `${vmid} ${name}`)).toEqual(
      guests.map(({ vmid, name }) => `${vmid} ${name}`),
    )
    expect(await cards()).toEqual(macs)
    expect(
      await eventually(
        "the machines' own addresses",
        () => rangeOf(owner, "JD"),
        (range: RangeView) =>
          range.VMs.find(({ name, ip }) => name === "JD-m2" && ip === `10.${rangeNumber}.10.12`) !== undefined && range,
      ),
    ).toMatchObject({ rangeState: "SUCCESS" })

    // the machines are removed and deployed again, now as ours; the old bridge serves them too
    await owner.send("DELETE", "/range/JD/vms")
    expect(await guestsOf(simulator)).toEqual([])
    await expectSuccess(owner, await deploy(owner, "JD"))
    await expectMachines(simulator, owner, "JD", machines)
  },
)
