import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, expect, test } from "vitest"
import type { Problem, StreamEvent } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, addUser, deploy, expectMachines, expectSuccess, follow, rangeOf, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, startService } from "./support/service.ts"
import { type SimulatorProcess, startSimulator } from "./support/simulator.ts"

afterAll(async () => {
  await endAll()
  removeFolders()
})

/** All remains that a range or user can have at the hypervisor, as root sees them. */
const inventory = async (simulator: SimulatorProcess) => {
  const rows = <A extends object>(path: string) => simulator.read<readonly A[]>(path)
  const [guests, pools, acl, users, groups, network, volumes] = await Promise.all([
    simulator.guests(),
    rows<{ readonly poolid: string }>("/pools"),
    rows<{ readonly path: string; readonly ugid: string; readonly roleid: string }>("/access/acl"),
    rows<{ readonly userid: string }>("/access/users"),
    rows<{ readonly groupid: string }>("/access/groups"),
    rows<{ readonly iface: string }>("/nodes/pve/network"),
    rows<{ readonly storage: string }>("/nodes/pve/storage").then((storages) =>
      Promise.all(storages.map(({ storage }) => rows<{ readonly volid: string }>(`/nodes/pve/storage/${storage}/content`))),
    ),
  ])
  return {
    guests: guests.map(({ vmid }) => String(vmid)).toSorted(),
    pools: pools.map(({ poolid }) => poolid).toSorted(),
    acl: acl.map(({ path, ugid, roleid }) => `${path} ${ugid} ${roleid}`).toSorted(),
    users: users.map(({ userid }) => userid).toSorted(),
    groups: groups.map(({ groupid }) => groupid).toSorted(),
    network: network.map(({ iface }) => iface).toSorted(),
    volumes: volumes
      .flat()
      .map(({ volid }) => volid)
      .toSorted(),
  }
}

test.concurrent("deleting a range and its user leaves nothing at the hypervisor and no file", { timeout: 300_000 }, async () => {
  const simulator = await startSimulator(["--speed", "600"])
  const data = temporaryFolder()
  const service = await startService(data, onSimulator(simulator))
  const admin = service.as(await addUser(service.root, "ADA", true))
  const before = await inventory(simulator)
  const files = readdirSync(data).toSorted()

  await addLab(service, "GONE", smallLab(2))
  await expectSuccess(admin, await deploy(admin, "GONE"))
  await expectMachines(simulator, admin, "GONE", ["router-debian11-x64", "m1", "m2"])
  const during = await inventory(simulator)
  for (const kind of ["guests", "pools", "acl", "users", "groups", "network", "volumes"] as const)
    expect(during[kind].length, kind).toBeGreaterThan(before[kind].length)

  const refused = await admin.ask<Problem>("DELETE", "/range?rangeID=GONE")
  expect(refused.status).toBe(409)
  expect((await rangeOf(admin, "GONE")).VMs).toHaveLength(3)

  await admin.send("DELETE", "/range?rangeID=GONE&force=true")
  await admin.send("DELETE", "/user/GONE")
  expect(await inventory(simulator)).toEqual(before)
  expect(readdirSync(data).toSorted()).toEqual(files)
  expect(await admin.ask("GET", "/range?rangeID=GONE")).toMatchObject({ status: 404 })
  const runs = await admin.get<readonly { readonly kind: string }[]>("/runs")
  expect(runs.filter(({ kind }) => kind !== "reconcile-access")).toEqual([])
})

test.concurrent(
  "the guide's commands for removing everything leave two groups at the hypervisor and no more",
  { timeout: 300_000 },
  async () => {
    const simulator = await startSimulator(["--speed", "600"])
    const before = await inventory(simulator)
    const data = temporaryFolder()
    const service = await startService(data, onSimulator(simulator))
    const admin = service.as(await addUser(service.root, "ADA", true))
    await addLab(service, "LEFT", smallLab(1))
    await expectSuccess(admin, await deploy(admin, "LEFT"))
    await admin.send("POST", "/ranges/create", { name: "Course", rangeID: "course/one" })

    const guide = readFileSync(new URL("../../docs/guides/install.md", import.meta.url), "utf8")
    const [, block = ""] = /## Remove it[^]*?```sh\n([^]*?)```/u.exec(guide) ?? []
    const commands = block
      .replace("http://127.0.0.1:8080", service.url)
      .replace("/var/lib/rangewright/root-api-key", join(data, "root-api-key"))
      .replace("admin=JD", "admin=ADA")
    const { stdout } = await promisify(execFile)("sh", ["-euc", commands])
    expect(stdout).not.toContain('"error"')
    expect(await service.root.get("/user/all")).toEqual([])
    const after = await inventory(simulator)
    expect(after).toEqual({ ...before, groups: [...before.groups, "ludus_admins", "ludus_users"].toSorted() })
  },
)

/** Moments of the removal after which the service is killed: its first effects, and some in the middle. */
const killAfterDispatch = new Set([1, 3, 6])

test.concurrent("a killed service resumes a removal", { timeout: 300_000 }, async () => {
  const simulator = await startSimulator(["--speed", "120"])
  const data = temporaryFolder()
  const environment = onSimulator(simulator)
  let service = await startService(data, environment)
  const key = await addUser(service.root, "ADA", true)
  const before = await inventory(simulator)
  await addLab(service, "GONE", smallLab(2))
  const { users, groups } = await inventory(simulator)
  await expectSuccess(service.as(key), await deploy(service.as(key), "GONE"))

  // nobody gets the answer: the connection breaks with the first kill
  const asked = service
    .as(key)
    .ask("DELETE", "/range?rangeID=GONE&force=true")
    .catch(() => "broken")
  const run = await eventually(
    "the run that removes the range",
    () => service.as(key).get<readonly { readonly id: string; readonly kind: string }[]>("/runs"),
    (runs) => runs.find(({ kind }) => kind === "delete-range"),
  )
  const seen: StreamEvent[] = []
  const dispatched = new Set<string>()
  const marks = new Set(killAfterDispatch)
  const isMoment = ({ type, data: { key: step } }: StreamEvent): boolean =>
    type === "StepDispatched" && marks.delete(dispatched.add(String(step)).size)
  // the run is removed with its range: one that ended before it could be followed is not found
  const isOver = (error: Error): false => {
    if (!error.message.includes(": 404 ")) throw error
    return false
  }
  while (marks.size > 0) {
    if (!(await follow(service.as(key), run.id, seen, isMoment).catch(isOver))) break
    await service.crash()
    service = await startService(data, environment)
  }
  expect(marks.size).toBeLessThan(2)
  expect(await asked).toBe("broken")
  const admin = service.as(key)
  await eventually(
    "a range that is gone",
    () => admin.ask("GET", "/range?rangeID=GONE"),
    ({ status }) => status === 404,
  )
  expect(await inventory(simulator)).toEqual({ ...before, users, groups })
  expect(service.program.stderr()).not.toMatch(/"level":(?:50|60)/u)
})
