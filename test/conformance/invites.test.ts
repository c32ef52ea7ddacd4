import { type UserId } from "@rangewright/domain"
import { TokenSigner, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { afterEach, beforeEach, expect, it } from "vitest"
import { ofOwnPage } from "./requests.ts"
import { password, startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeEach(async () => {
  service = await startWholeService()
})
afterEach(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

interface Invite {
  readonly userID: string
  readonly address: string
  readonly endsAt: string
}
interface Answer {
  readonly invites?: readonly Invite[]
  readonly errors?: readonly { readonly item: string; readonly reason: string }[]
}
const send = async (method: string, path: string, headers: Record<string, string>, body?: object) => {
  const response = await fetch(service.url + path, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: response.status, cookie: response.headers.get("set-cookie"), text: await response.text() }
}
const invite = async (...userIDs: readonly string[]): Promise<Answer> => {
  const answer = await send("POST", "/api/v2/user/invites", { "x-api-key": service.keys.admin }, { userIDs })
  expect([answer.status, answer.text]).toEqual([200, answer.text])
  return JSON.parse(answer.text) as Answer
}
const tokenOf = ({ invites = [] }: Answer): string => invites[0]?.address.split("#")[1] ?? ""
const accept = (token: string, chosen: string) => send("POST", "/ui/session", ofOwnPage, { invite: token, password: chosen })
const readInvite = (token: string) => send("POST", "/ui/invite", {}, { invite: token })
const signIn = (chosen: string) => send("POST", "/ui/session", ofOwnPage, { userID: "ME", password: chosen })
const sessionOf = ({ cookie }: Awaited<ReturnType<typeof send>>): string => /=(\w+)/u.exec(cookie ?? "")?.[1] ?? ""
const chosen = "a tidy harbour at dusk"

it("an invitation sets the password of its user and signs in, once", async () => {
  const before = await signIn(password)
  const made = await invite("ME")
  expect(made.invites).toEqual([
    {
      userID: "ME",
      name: "member",
      email: "member@lab.example",
      address: expect.stringMatching(/^\/ui\/invite\?user=ME#[\w.-]+$/u),
      endsAt: expect.any(String),
    },
  ])
  const accepted = await accept(tokenOf(made), chosen)
  expect(accepted).toMatchObject({ status: 200, cookie: expect.stringContaining("__Host-rangewright=") })
  expect(JSON.parse(accepted.text)).toMatchObject({ userID: "ME" })
  expect((await send("GET", "/ui/session", { cookie: accepted.cookie?.split(";")[0] ?? "" })).status).toBe(200)
  // the previous credentials and the used invitation no longer work
  expect((await send("GET", "/ui/session", { cookie: before.cookie?.split(";")[0] ?? "" })).status).toBe(401)
  expect([(await signIn(password)).status, (await signIn(chosen)).status]).toEqual([401, 200])
  const again = await accept(tokenOf(made), "another tidy harbour")
  expect(again).toMatchObject({ status: 401, cookie: null, text: expect.stringContaining("invitation") })
  expect((await signIn(chosen)).status).toBe(200)
})

it("a weak password does not use the invitation up, and a wrong token does not open it", async () => {
  const made = await invite("ME")
  expect(await accept(tokenOf(made), "password")).toMatchObject({ status: 400, cookie: null })
  expect(await accept(`${tokenOf(made)}x`, chosen)).toMatchObject({ status: 401, cookie: null })
  expect((await accept(tokenOf(made), chosen)).status).toBe(200)
})

it("an invitation tells only while it is valid whom it is for, and stays valid", async () => {
  const token = tokenOf(await invite("ME"))
  const read = await readInvite(token)
  expect([read.status, JSON.parse(read.text), read.cookie]).toEqual([200, { userID: "ME" }, null])
  expect(await readInvite(`${token}x`)).toMatchObject({ status: 401, text: expect.not.stringContaining("ME") })
  // a browser may still hold the cookie of a session that is over, or of somebody else
  for (const secret of ["x".repeat(43), sessionOf(await signIn(password))]) {
    const sent = { ...ofOwnPage, cookie: `__Host-rangewright=${secret}` }
    expect(await send("POST", "/ui/invite", sent, { invite: token })).toMatchObject({ status: 200 })
  }
  expect((await accept(token, chosen)).status).toBe(200)
  expect(await readInvite(token)).toMatchObject({ status: 401, text: expect.stringContaining("already used") })
})

it("an invitation ends when its user sets another password, and after a week", async () => {
  const made = await invite("ME")
  const own = { "x-api-key": service.keys.member }
  expect((await send("POST", "/api/v2/user/credentials", own, { proxmoxPassword: chosen })).status).toBe(200)
  expect((await accept(tokenOf(made), "another tidy harbour")).status).toBe(401)
  const late = await Effect.runPromise(
    Fiber.join(
      service.run(
        Effect.gen(function* () {
          const signer = yield* TokenSigner
          const found = yield* Users.use((users) => users.forAuthentication("ME" as UserId))
          const { user, secrets } = found!
          const week = 7 * 86_400_000
          return yield* signer.sign(
            { userId: user.id, recordId: user.recordId, tokenKey: secrets.tokenKey },
            "invite",
            new Date(Date.now() - week - 60_000),
          )
        }),
      ),
    ),
  )
  expect((await accept(late, "another tidy harbour")).status).toBe(401)
})

it("an invitation is no API token, and an API token is no invitation", async () => {
  const token = tokenOf(await invite("ME"))
  expect((await send("GET", "/api/v2/whoami", { authorization: `Bearer ${token}` })).status).toBe(401)
  const { text } = await send(
    "POST",
    "/api/collections/users/auth-with-password",
    {},
    { identity: "member@lab.example", password },
  )
  const auth = (JSON.parse(text) as { readonly token: string }).token
  expect((await accept(auth, chosen)).status).toBe(401)
})

it("users who cannot be invited are named, and links stay out of the audit trail", async () => {
  const made = await invite("ME", "ROOT", "NOBODY", "../x", "ME")
  expect(made.invites?.map(({ userID }) => userID)).toEqual(["ME"])
  expect(made.errors?.map(({ item, reason }) => [item, reason])).toEqual([
    ["ROOT", expect.stringContaining("no password")],
    ["NOBODY", expect.stringContaining("NOBODY")],
    ["../x", expect.any(String)],
  ])
  await accept(tokenOf(made), chosen)
  const { text } = await send("GET", "/api/v2/audit", { "x-api-key": service.keys.admin })
  expect(text).toContain("createInvites")
  expect(text).toContain("by an invitation")
  expect(text).not.toContain(tokenOf(made).split(".")[2])
})
