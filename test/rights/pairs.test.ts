import { describe, expect, it } from "vitest"
import { interruptions } from "./support/call-gate.ts"
import { type AccessOperation, accessOperations } from "./support/operations.ts"
import { together, undisturbed } from "./support/scene.ts"

/** Only every n-th call is tried, with another offset for each pair; RANGEWRIGHT_RIGHTS_EVERY=1 tries all. An odd number takes all interruptions in turn. */
const every = Number(process.env["RANGEWRIGHT_RIGHTS_EVERY"] ?? "13")

const another: AccessOperation = {
  name: "password changed again",
  call: { id: "postCredentials", as: "BOSS", body: { userID: "BOB", proxmoxPassword: "Third-word-1-of-3" } },
  takes: (fact) => fact.startsWith("bob@pve signs in"),
  about: ["BOB"],
}
const all = [...accessOperations, another]

const seconds = (first: AccessOperation) =>
  all.filter((second) => second !== first && second.about.some((thing) => first.about.includes(thing)))

describe.each(all.filter((first) => seconds(first).length > 0))("$name", (first) => {
  it(
    "agrees with the store when another change to the same objects begins at any call, even if the service dies",
    { timeout: 300_000 },
    async () => {
      const { trace } = await undisturbed(first)
      const failures: Record<string, readonly string[]> = {}
      for (const [nth, second] of seconds(first).entries())
        for (let at = 1 + (nth % every); at <= trace.length; at += every) {
          const later = at + ((at * 7 + nth * 3) % 23)
          const how = interruptions[(at + nth) % interruptions.length] ?? "dies before"
          for (const disturbed of [undefined, { at: later, how }]) {
            const found = await together(first, second, at, disturbed)
            const name = `${second.name} at call ${at}${disturbed === undefined ? "" : `, call ${later} ${how}`}`
            if (found.length > 0) failures[name] = found
          }
        }
      expect(failures).toEqual({})
    },
  )
})
