import { afterAll, expect, test } from "vitest"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, addUser, deploy, expectSuccess, follow, rangeOf, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, startService } from "./support/service.ts"
import { startSimulator } from "./support/simulator.ts"

afterAll(async () => {
  await endAll()
  removeFolders()
})

test(
  "a deploy with nothing to do shows as DEPLOYING for the configured time, five seconds by default",
  { timeout: 300_000 },
  async () => {
    const simulator = await startSimulator(["--speed", "600"])
    const data = temporaryFolder()
    const service = await startService(data, onSimulator(simulator, { RANGEWRIGHT_DEPLOY_SHOWN: undefined }))
    const admin = service.as(await addUser(service.root, "ADA", true))
    await addLab(service, "IDLE", smallLab(1))
    await expectSuccess(admin, await deploy(admin, "IDLE"))
    const again = await deploy(admin, "IDLE")
    await follow(admin, again, [], ({ type }) => type === "Planned")
    expect((await rangeOf(admin, "IDLE")).rangeState).toBe("DEPLOYING")
    await follow(admin, again, [])
    expect((await rangeOf(admin, "IDLE")).rangeState).toBe("SUCCESS")
    const run = await admin.get<{ readonly steps: readonly unknown[]; readonly startedAt: string; readonly endedAt: string }>(
      `/runs/${again}`,
    )
    expect(run.steps).toEqual([])
    expect(Date.parse(run.endedAt) - Date.parse(run.startedAt)).toBeGreaterThanOrEqual(5000)
  },
)
