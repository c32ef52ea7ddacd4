import { expect, it } from "vitest"
import { worldFacts } from "./support/facts.ts"
import { type AccessOperation, accessOperations } from "./support/operations.ts"
import { open, settle, undisturbed } from "./support/scene.ts"
import { isDone, perform } from "./support/watch.ts"

const named = (name: string): AccessOperation => {
  const found = accessOperations.find((operation) => operation.name === name)
  if (found === undefined) throw new Error(`there is no operation "${name}"`)
  return found
}

const remade: AccessOperation = {
  name: "the same range made again",
  call: { id: "createRange", as: "BOSS", body: { name: "Den of another", rangeID: "DEN", userID: ["DAN"] } },
  about: [],
}

it.each(["password changed", "user removed"])(
  "a range that is deleted and created again while a %s inherits no rights",
  { timeout: 120_000 },
  async (name) => {
    const first = named(name)
    const { trace } = await undisturbed(first)
    for (let at = 1; at <= trace.length; at++) {
      const scene = await open()
      const { gate, process, site, watch } = scene
      let others: Promise<boolean> | undefined
      gate.arm({
        onCall: (nth) => {
          if (nth !== at) return
          others = perform(process, named("range deleted"), watch)
            .then(() => perform(process, remade, watch))
            .then(isDone)
        },
      })
      await perform(process, first, watch)
      const isMade = await others
      expect([at, ...(await settle(scene))]).toEqual([at])
      const heirs = ["bob@pve has DEN", "cat@pve has DEN"].filter((fact) => worldFacts(site).has(fact))
      if (isMade === true) expect([at, ...heirs]).toEqual([at])
    }
  },
)
