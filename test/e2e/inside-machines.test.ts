import { chmodSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, test } from "vitest"
import type { ApiClient } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addLab, deploy, expectSuccess, follow, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { startService } from "./support/service.ts"

afterEach(async () => {
  await endAll()
  removeFolders()
})

const id = "LAB"
const path = (what: string): string => `/range${what}?rangeID=${id}`
const runs = (client: ApiClient): Promise<readonly unknown[]> => client.get(`/runs?rangeID=${id}`)

describe("work inside machines", { timeout: 300_000 }, () => {
  test("that no tool can do refuses the deploy with the reason and the fix, until the operator makes it possible", async () => {
    const tool = join(temporaryFolder(), "ansible-playbook")
    const service = await startService(temporaryFolder(), {
      RANGEWRIGHT_GUEST_AUTOMATION: "ansible",
      RANGEWRIGHT_ANSIBLE_PLAYBOOK: tool,
      RANGEWRIGHT_SIMULATOR_SPEED: "600",
    })
    const user = await addLab(service, id, smallLab(1))
    const refused = {
      status: 409,
      body: {
        error: expect.stringContaining(
          `Cannot deploy range ${id}: nothing can be run inside ${id}-router-debian11-x64, ${id}-m1: ${tool}: it is not installed`,
        ) as string,
        hint: expect.stringContaining("Install ansible-core 2.14 or later") as string,
      },
    }
    expect(await user.ask("POST", path("/deploy"), {})).toMatchObject(refused)
    expect(await user.ask("POST", path("/deploy"), { dryRun: true })).toMatchObject(refused)
    expect(await user.ask("GET", path("/plan"))).toMatchObject(refused)
    expect(await runs(user)).toEqual([])
    expect(await user.get(path(""))).toMatchObject({ rangeState: "NEVER DEPLOYED", VMs: [] })
    expect(await user.get(path("/drift"))).toMatchObject({
      inSync: false,
      notes: [expect.stringMatching(/^a deploy would be refused now: nothing can be run inside /u)],
    })

    // steps outside of machines are still done
    const { runID } = await user.send<{ readonly runID: string }>("POST", path("/deploy"), { tags: "vm-deploy" })
    await follow(user, runID, [])
    await expectSuccess(user, runID)
    expect(await runs(user)).toHaveLength(1)
    expect(await user.get(path("/drift"))).toMatchObject({ inSync: false })
    expect(await user.ask("POST", path("/deploy"), {})).toMatchObject(refused)

    const says = "ansible-playbook [core 2.16.0]"
    writeFileSync(tool, `#!/bin/sh\necho '${says}'\n`)
    chmodSync(tool, 0o755)
    const possible = await user.ask("GET", path("/plan"))
    // a host without sshpass is told about that next
    if (possible.status !== 200)
      expect(possible).toMatchObject({ status: 409, body: { error: expect.stringContaining("sshpass") as string } })
    rmSync(tool)
    expect(await user.ask("GET", path("/plan"))).toMatchObject(refused)
  })

  test("that the operator disabled is skipped, and deploy, range, plan and drift say so", async () => {
    const service = await startService(temporaryFolder(), {
      RANGEWRIGHT_GUEST_AUTOMATION: "none",
      RANGEWRIGHT_SIMULATOR_SPEED: "600",
    })
    const user = await addLab(service, id, smallLab(1))
    const { result } = await user.send<{ readonly result: string }>("POST", path("/deploy"), { dryRun: true })
    expect(result).toContain("Nothing is done inside machines")
    const runId = await deploy(user, id)
    await follow(user, runId, [])
    await expectSuccess(user, runId)
    expect(await user.get(path(""))).toMatchObject({ rangeState: "SUCCESS", guestAutomation: "none" })
    const notes = expect.arrayContaining([
      expect.stringContaining("guest_automation: none"),
      `the stage address is left out: ${id}-m1`,
      `the stage firewall is left out: ${id}-router-debian11-x64`,
    ]) as string[]
    expect(await user.get(path("/plan"))).toMatchObject({ steps: [], notes })
    expect(await user.get(path("/drift"))).toMatchObject({ inSync: true, notes })
  })
})
