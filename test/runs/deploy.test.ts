import { describe, expect, it } from "vitest"
import { boot, createRange, deploy, endOf, makeLab, startAndWait, strays } from "./support/lab.ts"

describe("a deploy", () => {
  it("creates every machine and ends in success", async () => {
    const lab = makeLab()
    const range = await createRange(lab)
    const service = boot(lab)
    const { state } = await startAndWait(service, range)
    expect(state.message).toBe("")
    expect(state.status).toBe("success")
    const end = endOf(lab)
    expect(end.vms.map(({ name, power }) => `${name} ${power}`)).toEqual(
      ["vm1", "vm2", "vm3", "vm4", "vm5", "vm6"].map((name) => `${name} running`),
    )
    expect(end.states).toEqual([["LAB", "SUCCESS"]])
    expect(strays(lab)).toEqual([])
    await service.dispose()
  })

  it("changes nothing when it is repeated", async () => {
    const lab = makeLab()
    const range = await createRange(lab)
    const service = boot(lab)
    await startAndWait(service, range, deploy)
    const end = endOf(lab)
    await startAndWait(service, range, deploy)
    expect(endOf(lab)).toEqual(end)
    await service.dispose()
  })
})
