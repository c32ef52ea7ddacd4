import { credentialHasher } from "@rangewright/adapter-crypto"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"

const hasher = credentialHasher(Buffer.alloc(32))
const verify = (key: string, hash: string) => Effect.runPromise(hasher.verifyFirstGeneration(key, hash))

describe("hashes of API keys of the first generation", () => {
  it.each([
    ["", "$2a$06$DCq7YPn5Rq63x1Lad4cll.TV4S6ytwfsfvkgY8jIucDrjc8deX1s."],
    ["a", "$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe"],
    ["abc", "$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i"],
    ["U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"],
    ["JD._7Gx2T5kTUSD%uTWZ*lFi=Os6MpFR^OrG+yT94Xt", "$2b$04$abcdefghijklmnopqrstuu7mj0gnDIEetXvxbxGxymJLeDAPu9P7K"],
  ])("verify their key (%j) and no other", async (key, hash) => {
    expect(await verify(key, hash)).toBe(true)
    expect(await verify(`${key}x`, hash)).toBe(false)
    expect(hasher.verify(key, hash)).toBe(false)
  })

  it("are refused when they are damaged, or would take long", async () => {
    const good = "$2a$06$m0CrhHm10qJ3lXRY.5zDGO3rS2KdeeWLuGmsfGlMfOxih58VYVfxe"
    for (const bad of [
      good.slice(0, -1),
      `${good}x`,
      good.replace("$06$", "$31$"),
      good.replace("$06$", "$03$"),
      good.replace("$2a", "$3a"),
    ])
      expect(await verify("a", bad)).toBe(false)
  })

  it("are not what the service makes itself", async () => {
    expect(await verify("AB.x", hasher.hash("AB.x"))).toBe(false)
  })
})
