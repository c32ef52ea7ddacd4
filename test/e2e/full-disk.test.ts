import { rmSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterEach, expect, test } from "vitest"
import { fillDisk } from "../../packages/adapter-storage/test/fill-disk.ts"
import type { StreamEvent } from "./support/client.ts"
import { eventually } from "./support/eventually.ts"
import { mountFileSystem, unmountAll } from "./support/file-system.ts"
import { removeFolders } from "./support/folder.ts"
import { addLab, addUser, deploy, expectMachines, expectSuccess, expectWholeStream } from "./support/lab.ts"
import { follow, rangeOf, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, startService } from "./support/service.ts"
import { startSimulator } from "./support/simulator.ts"

afterEach(async () => {
  await endAll()
  unmountAll()
  removeFolders()
})

test(
  "a disk that fills up during a deploy stops only that deploy, which continues when there is space again",
  { timeout: 300_000 },
  async ({ skip }) => {
    // room for the database's log, which is written back at 4 MB
    const disk = mountFileSystem("size=16m")
    if (disk === undefined) return skip("only root can mount a small file system")
    const ballast = join(disk, "ballast")
    const simulator = await startSimulator(["--speed", "60"])
    const data = join(disk, "data")
    const service = await startService(data, onSimulator(simulator))
    const admin = service.as(await addUser(service.root, "ADA", true))
    await addLab(service, "FULL", smallLab(3))
    await addLab(service, "OTHER", smallLab(1))
    const runId = await deploy(admin, "FULL")
    const seen: StreamEvent[] = []
    expect(await follow(admin, runId, seen, ({ type }) => type === "StepSettled")).toBe(true)

    fillDisk(ballast)
    const large = `${smallLab(1)}# ${"a long note ".repeat(5_000)}\n`
    // the existing database files may have room for a few more writes
    const refused = await eventually(
      "a write that is refused",
      () => admin.upload("/range/config?rangeID=OTHER", large),
      (answer) => answer.status !== 200 && answer,
    )
    expect(refused.status).toBe(502)
    expect(refused.body.error).toContain("the disk is full")
    const readiness = async () => {
      const response = await fetch(`${service.url}/readyz`)
      return { status: response.status, body: (await response.json()) as { readonly store: string } }
    }
    const told = await readiness()
    expect(told).toMatchObject({ status: 503, body: { store: expect.stringContaining("the disk is full") as string } })
    const { findings } = await admin.get<{ readonly findings: readonly unknown[] }>("/doctor")
    expect(findings).toContainEqual(
      expect.objectContaining({ level: "fail", what: "disk", detail: expect.stringContaining("the disk is full") as string }),
    )
    expect(await rangeOf(admin, "FULL")).toMatchObject({ rangeState: "DEPLOYING" })
    expect(await admin.get("/range/config?rangeID=OTHER")).toMatchObject({ result: expect.stringContaining("ludus:") as string })

    rmSync(ballast)
    await eventually("a service that is ready", readiness, ({ status }) => status === 200)
    expect((await admin.upload("/range/config?rangeID=OTHER", large)).status).toBe(200)
    await follow(admin, runId, seen)
    await expectSuccess(admin, runId)
    await expectWholeStream(admin, runId, seen)
    await expectMachines(simulator, admin, "FULL", ["router-debian11-x64", "m1", "m2", "m3"])
    service.program.signal("SIGTERM")
    expect(await service.program.ended).toEqual({ code: 0, signal: null })
    const database = new DatabaseSync(join(data, "rangewright.db"), { readOnly: true })
    expect(database.prepare("pragma integrity_check").all()).toEqual([{ integrity_check: "ok" }])
    database.close()
  },
)
