import { Hypervisor } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import { proxmoxLayer, type PveAuth } from "../src/index.ts"
import { runFast, scriptedNode } from "./support.ts"

/** Observes with these credentials; returns the first request that was sent. */
const firstRequest = async (auth: PveAuth) => {
  const { requests, transport } = scriptedNode(() => ({ status: 401, reason: "no such user" }))
  const observe = Effect.ignore(Hypervisor.use(({ observe }) => observe))
  await runFast(Effect.provide(observe, proxmoxLayer({ urls: [], transport, auth })))
  return requests[0]
}
const token = (secret: string, id = "lab@pve!service"): PveAuth => ({ type: "token", id, secret: Redacted.make(secret) })
const password = (text: string, username = "lab@pve"): PveAuth => ({
  type: "password",
  username,
  password: Redacted.make(text),
})

describe("credentials as a file holds them", () => {
  it("are taken without the spaces around a token", async () => {
    const request = await firstRequest(token(" 0a1b2c3d\r\n", "lab@pve!service\n"))
    expect(request?.headers).toMatchObject({ authorization: "PVEAPIToken=lab@pve!service=0a1b2c3d" })
  })

  it("are taken without the end of the line after a password, but with its spaces", async () => {
    expect((await firstRequest(password(" pass word \r\n")))?.body).toBe("username=lab%40pve&password=%20pass%20word%20")
  })
})

describe("credentials that cannot be any", () => {
  it.each<[string, PveAuth, string]>([
    [
      "a secret as plain text",
      { type: "token", id: "lab@pve!service", secret: "0a1b2c3d" as never },
      "auth.secret is not Redacted",
    ],
    ["no secret", token("\n"), "auth.secret is empty"],
    ["a secret of two lines", token("0a1b2c3d\nsecond"), "auth.secret contains characters"],
    ["the id of a user", token("0a1b2c3d", "lab@pve"), "auth.id is not user@realm!name"],
    ["the whole token as its id", token("0a1b2c3d", "lab@pve!service=0a1b2c3d"), "auth.id is not user@realm!name"],
    ["no password", password("\n"), "auth.password is empty"],
    ["a name without a realm", password("pass word", "lab"), "auth.username is not user@realm"],
  ])(
    "are refused before anything is sent, by the name of the setting and without the secret: %s",
    async (_what, auth, problem) => {
      const refusal = await firstRequest(auth).catch((error: unknown) => String(error))
      expect(refusal).toContain(problem)
      expect(refusal).not.toContain("0a1b2c3d")
    },
  )
})
