import { operations } from "@rangewright/application"
import { readTemplate } from "@rangewright/pve-simulator"
import { Machines, Ranges, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { beforeAll, describe, expect, it } from "vitest"
import { deployLab, makeVirtualLab, owner, type VirtualLab } from "../../bench/virtual-time.ts"

const machine = (name: string, octet: number, template: string, more = ""): string => `
  - vm_name: "{{ range_id }}-${name}"
    hostname: ${name}
    template: ${template}
    vlan: 10
    ip_last_octet: ${octet}
    ram_gb: 4
    cpus: 2
    windows: {}${more}`

const config = `ludus:${machine("bought", 11, "win2022-volume-template")}${machine("tried", 12, "win2022-server-x64-template")}\n`

describe("activation on the simulator", () => {
  let lab: VirtualLab
  const ask = (id: string, body?: unknown) =>
    lab.run(
      Effect.gen(function* () {
        const user = (yield* (yield* Users).find(owner))!
        const range = yield* (yield* Ranges).find(lab.range.id)
        const operation = operations.find((one) => one.id === id)!
        const meta = { requestId: "r", remote: "", lastEventId: undefined }
        const nothing = { path: {}, query: {}, file: undefined, group: undefined }
        const answer = yield* operation.handle({ ...nothing, body, range, meta, caller: user, user })
        return [answer, yield* (yield* Machines).ofRange(lab.range.id)] as const
      }),
    )

  beforeAll(async () => {
    lab = await makeVirtualLab({
      config,
      templates: [readTemplate("win2022-volume-template=windows")],
      kms: { host: { host: "kms.example.org", port: 1688 }, server: undefined, hostKey: undefined },
    })
    expect((await deployLab(lab)).state.status).toBe("success")
  })

  it("activates volume-licensed editions, and starts nothing on an evaluation edition", async () => {
    const [, machines] = await ask("kmsStatus")
    const vmid = (name: string) => machines.find((one) => one.name === name)?.vmid ?? 0
    const [bought, tried] = [vmid("LAB-bought"), vmid("LAB-tried")]
    const [told, after] = await ask("kmsLicense", { vmIDs: [bought, tried] })
    expect(told).toEqual({
      success: [String(bought)],
      errors: [{ item: String(tried), reason: expect.stringContaining("evaluation edition (ServerStandardEval)") }],
      runID: expect.any(String),
    })
    expect(after.map(({ name, activation }) => [name, activation?.state])).toContainEqual(["LAB-bought", "activated"])
    expect(after.map(({ name, activation }) => [name, activation?.state])).toContainEqual(["LAB-tried", undefined])
    // what a machine records it also shows
    expect(lab.simulator.save()).not.toContain("VDYBN")
  })
})
