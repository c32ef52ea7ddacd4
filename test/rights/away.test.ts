import { describe, expect, it } from "vitest"
import { silences } from "./support/facts.ts"
import { accessOperations } from "./support/operations.ts"
import { open, settle, undisturbed } from "./support/scene.ts"
import { sleep } from "./support/site.ts"
import { isDone, perform } from "./support/watch.ts"

const awaySeconds = 200

describe.each(accessOperations)("$name", (operation) => {
  it("agrees with the store within half a minute after the hypervisor is back", { timeout: 120_000 }, async () => {
    const { trace, reached, problems } = await undisturbed(operation)
    expect(problems).toEqual([])
    const failures: Record<string, readonly string[]> = {}
    for (const [index, name] of trace.entries()) {
      // nothing asks the hypervisor between this call and the next
      if (reached[index] === reached[index + 1]) continue
      const scene = await open()
      const { gate, process, site, watch } = scene
      const goAway = (): void => {
        site.world.fault = () => ({ when: "before", reason: "away" })
      }
      gate.arm({ onCall: (nth) => nth === index + 1 && goAway() })
      const answered = perform(process, operation, watch)
      await sleep(process, awaySeconds)
      goAway()
      const silent = [...(await silences(site))]
      site.world.fault = () => undefined
      const found = [...silent, ...(await settle(scene))]
      await answered
      if (found.length > 0) failures[`away from call ${index + 1}, ${name}`] = found
    }
    expect(failures).toEqual({})
  })
})

const repeatable = ["member removed", "manager removed", "range removed from a group", "administrator demoted"]

describe.each(accessOperations.filter(({ name }) => repeatable.includes(name)))(
  "$name, and repeated while the hypervisor is unreachable",
  (operation) => {
    it("is never acknowledged before it reached the hypervisor", async () => {
      const scene = await open()
      const { process, site, watch } = scene
      site.world.fault = () => ({ when: "before", reason: "away" })
      expect(isDone(await perform(process, operation, watch))).toBe(false)
      expect(isDone(await perform(process, operation, watch))).toBe(false)
      expect(await silences(site)).toEqual([])
      site.world.fault = () => undefined
      expect(await settle(scene)).toEqual([])
    })
  },
)
