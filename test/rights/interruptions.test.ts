import { describe, expect, it } from "vitest"
import { interruptions } from "./support/call-gate.ts"
import { accessOperations } from "./support/operations.ts"
import { interrupted, undisturbed } from "./support/scene.ts"

describe.each(accessOperations)("$name", (operation) => {
  it.each(interruptions)(
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
