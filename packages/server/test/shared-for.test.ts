import { describe, expect, test, vi } from "vitest"
import { sharedFor } from "../src/compose/shared-for.ts"

describe("an answer that requests share", () => {
  test("is made once for those that come meanwhile, and again after its time", async () => {
    const now = vi.spyOn(performance, "now").mockReturnValue(0)
    try {
      const gate = Promise.withResolvers<void>()
      let made = 0
      const ask = sharedFor(2000, async () => {
        await gate.promise
        made += 1
        return made
      })
      const first = ask()
      now.mockReturnValue(9000)
      const second = ask()
      gate.resolve()
      expect(await Promise.all([first, second])).toEqual([1, 1])
      expect(await ask()).toBe(2)
      now.mockReturnValue(10_999)
      expect(await ask()).toBe(2)
      now.mockReturnValue(11_000)
      expect(await ask()).toBe(3)
    } finally {
      now.mockRestore()
    }
  })

  test("is not kept if it failed", async () => {
    let made = 0
    const ask = sharedFor(2000, () => {
      made += 1
      return made === 1 ? Promise.reject(new Error("away")) : Promise.resolve(made)
    })
    await expect(ask()).rejects.toThrow("away")
    expect(await ask()).toBe(2)
  })
})
