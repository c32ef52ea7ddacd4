import { describe, expect, it } from "vitest"
import { accessOperations } from "./support/operations.ts"
import { interrupted, remains, restarted, undisturbed } from "./support/scene.ts"

describe.each(accessOperations)("$name", (operation) => {
  it("agrees with the store within half a minute, wherever the process dies in it", { timeout: 120_000 }, async () => {
    const failures: Record<string, readonly string[]> = {}
    const left = await remains(operation)
    for (const one of left) {
      const found = await restarted(one)
      if (found.length > 0) failures[one.when] = found
    }
    expect(failures).toEqual({})
    // at least before and after the change of the store
    expect(left.length).toBeGreaterThan(1)
  })

  it.each(["fails before", "fails after"] as const)(
    "agrees with the store within half a minute, whichever of its calls %s",
    { timeout: 120_000 },
    async (how) => {
      const { trace, problems } = await undisturbed(operation)
      expect(problems).toEqual([])
      const failures: Record<string, readonly string[]> = {}
      for (const [index, name] of trace.entries()) {
        const found = await interrupted(operation, index + 1, how)
        if (found.length > 0) failures[`call ${index + 1}, ${name}`] = found
      }
      expect(failures).toEqual({})
    },
  )
})
