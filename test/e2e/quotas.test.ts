import { afterAll, expect, test } from "vitest"
import type { Problem } from "./support/client.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addUser, deploy, expectSuccess, rangeOf, smallLab } from "./support/lab.ts"
import { endAll } from "./support/program.ts"
import { onSimulator, startService } from "./support/service.ts"
import { startSimulator } from "./support/simulator.ts"

afterAll(async () => {
  await endAll()
  removeFolders()
})

const deploys = 64
/** VMs of the existing range. */
const taken = 3

test(
  `of ${deploys} concurrent deploys with quota for one more VM, one runs and the others are refused without traces; a crash changes no count`,
  { timeout: 300_000 },
  async () => {
    const simulator = await startSimulator(["--speed", "600"])
    const data = temporaryFolder()
    const environment = onSimulator(simulator)
    const service = await startService(data, environment)
    const key = await addUser(service.root, "ADA")
    const ada = service.as(key)
    const used = async (client = ada) => (await client.get<{ readonly usedVMs: number }>("/user/quotas")).usedVMs
    expect((await ada.upload("/range/config?rangeID=ADA", smallLab(taken))).status).toBe(200)
    await expectSuccess(ada, await deploy(ada, "ADA"))
    const others = Array.from({ length: deploys }, (_, i) => `ADA-${i}`)
    await Promise.all(others.map((rangeID) => ada.send("POST", "/ranges/create", { rangeID, name: rangeID })))
    for (const rangeID of others) expect((await ada.upload(`/range/config?rangeID=${rangeID}`, smallLab(1))).status).toBe(200)
    await service.root.send("PUT", "/user/quotas", { userIDs: ["ADA"], quotaVMs: taken + 1 })
    expect(await used()).toBe(taken)

    const answers = await Promise.all(
      others.map(async (rangeID) => ({
        rangeID,
        ...(await ada.ask<Problem & { readonly runID: string }>("POST", `/range/deploy?rangeID=${rangeID}`, {})),
      })),
    )
    const [through, ...more] = answers.filter(({ status }) => status === 200)
    expect(more).toEqual([])
    const refused = answers.filter(({ rangeID }) => rangeID !== through?.rangeID)
    for (const { status, body } of refused) {
      expect(status).toBe(403)
      expect(body.error).toMatch(/the quota of ADA does not allow it: VMs: limit 4, in use 4, requested 1 more, 5 in all$/mu)
    }
    expect(await used()).toBe(taken + 1)

    await service.crash()
    const again = await startService(data, environment)
    const ADA = again.as(key)
    expect(await used(ADA)).toBe(taken + 1)
    const next = refused[0]?.rangeID ?? ""
    expect((await ADA.ask("POST", `/range/deploy?rangeID=${next}`, {})).status).toBe(403)
    expect((await rangeOf(ADA, next)).rangeState).toBe("NEVER DEPLOYED")
  },
)
