import { giveRootKey } from "@rangewright/application"
import { rootUserId } from "@rangewright/domain"
import { Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import { makeTestApp } from "./support/app.ts"

describe("a key that is given to ROOT", () => {
  it.each(["", "hunter2", "ROOT.", "root.hunter2", "JD.hunter2", "ROOT.a.b", "ROOT.a b", "ROOT.é", "ROOT.hunter2\n"])(
    "is refused when nobody could sign in with it: %j",
    async (key) => {
      const app = makeTestApp()
      const fault = await app.run(Effect.orDie(Effect.flip(giveRootKey(key))))
      expect([fault.kind, fault.message]).toEqual(["invalid", expect.stringContaining("must be ROOT.<secret>")])
      expect(fault.message).not.toContain("hunter2")
      expect(await app.run(Effect.flatMap(Users, (users) => users.find(rootUserId)))).toBeUndefined()
    },
  )

  it.each(["ROOT.secret", "ROOT._7Gx2T5kTUSD%uTWZ*lFi=Os6MpFR^OrG+yT94Xt"])("is given: %s", async (key) => {
    expect(await makeTestApp().run(giveRootKey(key))).toBe(key)
  })
})
