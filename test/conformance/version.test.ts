import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeEach(async () => {
  service = await startWholeService()
})
afterEach(async () => {
  await service.stop()
})

interface Index {
  readonly version: string
  readonly result: string
  readonly serviceVersion: string
}

describe("the version", () => {
  it("has a number that clients choose their calls by, and the service's own number beside it", async () => {
    const response = await fetch(`${service.url}/api/v2/`, { headers: { "x-api-key": service.keys.member } })
    const { version, result, serviceVersion } = (await response.json()) as Index
    expect(version).toBe("2.3.0+rangewright.0.0.0")
    // scripts read the number before the first dot; web clients the three numbers and the last word of the line
    expect(Number(version.split(".")[0])).toBe(2)
    expect(/^(\d+)\.(\d+)\.(\d+)/u.exec(version)?.slice(1)).toEqual(["2", "3", "0"])
    expect(serviceVersion).toBe("0.0.0")
    expect(result.split(" ").at(-1)).toBe(serviceVersion)
    expect(/(\d+)\.(\d+)\.(\d+)/u.exec(result)?.[1]).toBe("2")
    expect(result).toContain("Rangewright")
  })
})
