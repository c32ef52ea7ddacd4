import type { SingleSignOn } from "@rangewright/application"
import type { ProvenPerson } from "@rangewright/domain"
import { Identities, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { afterEach, describe, expect, it } from "vitest"
import { idOf } from "../../packages/adapter-http/test/support.ts"
import { ofOwnPage } from "./requests.ts"
import { ownPage, password, signedInThere, startWholeService, type WholeService } from "./service.ts"

let service: WholeService
afterEach(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})
const start = async (singleSignOn: Partial<SingleSignOn> = {}) => {
  service = await startWholeService({ singleSignOn })
}

type Json = Readonly<Record<string, unknown>>
interface Answer {
  readonly status: number
  readonly json: Json
  /** `name=value` of each cookie that the answer sets. */
  readonly cookies: readonly string[]
}

const send = async (
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: unknown,
): Promise<Answer> => {
  const response = await fetch(`${service.url}${path}`, {
    method,
    redirect: "manual",
    headers: { ...headers, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(";")[0] ?? "")
  return { status: response.status, json: (await response.json()) as Json, cookies }
}

const run = <A, E>(effect: Effect.Effect<A, E, Identities | Users>) =>
  Effect.runPromise(Effect.flatten(Fiber.await(service.run(effect as Effect.Effect<A, never, Identities | Users>))))

const issuer = "https://login.example/"
/** A person whom the provider knows and who has just signed in there. */
const atProvider = (subject: string, claims: Json = {}): string => {
  const person: ProvenPerson = { issuer, subject, claims }
  const code = `code of ${subject}`
  service.provider.codes.set(code, person)
  return code
}
const verified = (email: string): Json => ({ email, email_verified: true })

/** The browser's state after it was redirected to the provider. */
const begin = async (headers: Readonly<Record<string, string>> = {}, body: Json = {}) => {
  const { status, json, cookies } = await send("POST", "/ui/single-sign-on", { ...ofOwnPage, ...headers }, body)
  expect([status, json]).toEqual([200, json])
  const url = new URL(json["url"] as string)
  expect(url.searchParams.get("redirect_uri")).toBe(`${ownPage}/ui/login/return`)
  return { cookie: cookies[0] ?? "", state: url.searchParams.get("state") ?? "" }
}
const finish = ({ cookie, state }: { readonly cookie: string; readonly state: string }, code: string) =>
  send("POST", "/ui/session", { ...ofOwnPage, cookie }, { code, state })
const signIn = async (code: string) => finish(await begin(), code)

describe("signing in through an identity provider", () => {
  it("starts a session of the user linked to the person, whatever their email address is; the session ends when the link is removed", async () => {
    await start()
    const { subject } = signedInThere
    const answer = await signIn(atProvider(subject, verified("admin@lab.example")))
    expect([answer.status, answer.json]).toMatchObject([200, { userID: "ME" }])
    const cookie = answer.cookies.find((one) => one.startsWith("__Host-rangewright=")) ?? ""
    expect(answer.cookies).toContain("__Host-rangewright-sign-in=")
    expect((await send("GET", "/ui/session", { cookie })).status).toBe(200)
    expect((await send("GET", "/api/v2/user/identity", { cookie })).json).toMatchObject({ identities: [{ issuer, subject }] })
    const removed = await send("DELETE", "/api/v2/user/identity", { ...ofOwnPage, cookie })
    expect(removed.status).toBe(200)
    expect((await send("GET", "/ui/session", { cookie })).status).toBe(401)
  })

  it("is refused in a browser that did not begin it, with another state, and a second time", async () => {
    await start()
    const code = () => atProvider(signedInThere.subject)
    const mine = await begin()
    const theirs = await begin()
    for (const mixed of [
      { ...mine, state: theirs.state },
      { ...mine, cookie: "" },
      { ...mine, cookie: theirs.cookie },
      { ...mine, state: "" },
      { ...mine, cookie: `__Host-rangewright-sign-in=${"a".repeat(43)}.${(Date.now() + 60_000).toString(36)}` },
    ])
      expect([(await finish(mixed, code())).status, service.provider.codes.size]).toEqual([401, 2])
    const refused = await send(
      "POST",
      "/ui/session",
      { cookie: mine.cookie, "x-rangewright": "1", "sec-fetch-site": "cross-site" },
      { code: code(), state: mine.state },
    )
    expect(refused.status).toBe(403)
    expect((await finish(mine, code())).status).toBe(200)
    // a new code of the provider does not make the same sign-in valid again
    expect((await finish(mine, code())).status).toBe(401)
  })

  it("links a new person to the user with their verified email address, but never to an administrator", async () => {
    await start()
    for (const claims of [{ email: "stranger@lab.example" }, { email: "stranger@lab.example", email_verified: false }, {}])
      expect((await signIn(atProvider("1", claims))).status).toBe(403)
    expect((await signIn(atProvider("1", verified("admin@lab.example")))).status).toBe(403)
    expect((await signIn(atProvider("1", verified("nobody@lab.example")))).status).toBe(403)
    expect((await signIn(atProvider("1", verified("Stranger@lab.example")))).json).toMatchObject({ userID: "ST" })
    // the same address, given to somebody else at the provider
    expect((await signIn(atProvider("2", verified("stranger@lab.example")))).status).toBe(403)
    expect(await run(Identities.use((identities) => identities.ofUser(idOf.admin)))).toEqual([])
  })

  it("matches nobody by email address when the operator named no claim for it", async () => {
    await start({ claim: undefined })
    expect((await signIn(atProvider("1", verified("stranger@lab.example")))).status).toBe(403)
  })

  it("creates an ordinary user for a new person in an admitted domain, if the operator allows it", async () => {
    await start({ domains: ["lab.example"], makesUsers: true })
    for (const email of ["ada@other.example", "ada@sub.lab.example", "ada@lab.example.evil.example"])
      expect((await signIn(atProvider("1", { ...verified(email), name: "Ada Lovelace" }))).status).toBe(403)
    const claims = { ...verified("ada@lab.example"), name: "Ada Lovelace", isAdmin: true }
    expect((await signIn(atProvider("1", claims))).json).toMatchObject({ userID: "AL", isAdmin: false })
    await run(Users.use((users) => users.remove("AL" as typeof idOf.member)))
    expect((await signIn(atProvider("1", { ...claims, ...verified("ada@other.example") }))).status).toBe(403)
  })

  it("creates no user for a new person whose address, user ID or account belongs to somebody else", async () => {
    await start({ domains: ["lab.example"], makesUsers: true, claim: "preferred_username" })
    for (const [id, email] of [
      ["NEW", "member@lab.example"],
      ["ADMIN", "ada@lab.example"],
      ["R1", "ada@lab.example"],
    ] as const) {
      const { status, json } = await signIn(atProvider("1", { ...verified(email), preferred_username: id, name: "Ada" }))
      expect([id, status, json["hint"]]).toEqual([id, 403, expect.stringMatching(/^Ask an administrator/u)])
    }
    expect((await run(Users.use((users) => users.list))).map(({ id }) => id)).not.toContain("NEW")
  })

  it("links an administrator who enters their password first, and nobody whose session was stolen", async () => {
    await start()
    const session = await send("POST", "/ui/session", ofOwnPage, { email: "admin@lab.example", password })
    const own = { cookie: session.cookies[0] ?? "" }
    const link = ({ cookie, state }: { readonly cookie: string; readonly state: string }, code: string) =>
      send("POST", "/ui/identity", { ...ofOwnPage, cookie: `${own.cookie}; ${cookie}` }, { code, state })
    expect((await send("POST", "/ui/single-sign-on", { ...ofOwnPage, ...own }, { password: "wrong" })).status).toBe(401)
    expect((await link(await begin(own), atProvider("7"))).status).toBe(403)
    expect((await link(await begin(own, { password }), atProvider(signedInThere.subject))).status).toBe(409)
    expect((await link(await begin(own, { password }), atProvider("7"))).status).toBe(200)
    expect((await signIn(atProvider("7"))).json).toMatchObject({ userID: "AD", isAdmin: true })
  })

  it("fails with 502 while the provider is unreachable, and passwords still work", async () => {
    await start()
    const begun = await begin()
    service.provider.reachable = false
    expect((await finish(begun, "code")).status).toBe(502)
    expect((await send("POST", "/ui/single-sign-on", ofOwnPage, {})).status).toBe(502)
    expect((await send("GET", "/api/collections/users/auth-methods")).json).toMatchObject({
      oauth2: { enabled: false, providers: [] },
    })
    expect((await send("POST", "/ui/session", ofOwnPage, { email: "member@lab.example", password })).status).toBe(200)
    service.provider.reachable = true
    expect((await finish(begun, atProvider(signedInThere.subject))).status).toBe(200)
  })
})

describe("clients of the record API", () => {
  it("list the sign-in methods, and exchange a code for a token at an address that the operator named", async () => {
    const redirectURL = "http://127.0.0.1:7777/done"
    await start({ redirectUrls: [redirectURL] })
    const { json } = await send("GET", "/api/collections/users/auth-methods")
    const [offer] = (json["oauth2"] as { readonly providers: readonly Readonly<Record<string, string>>[] }).providers
    expect(offer?.["authURL"]).toMatch(/&redirect_uri=$/u)
    const login = (more: Json) =>
      send(
        "POST",
        "/api/collections/users/auth-with-oauth2",
        {},
        {
          provider: offer?.["name"],
          code: atProvider(signedInThere.subject),
          codeVerifier: offer?.["codeVerifier"],
          redirectURL,
          ...more,
        },
      )
    expect((await login({ redirectURL: "https://evil.example/" })).status).toBe(400)
    expect((await login({ provider: "another" })).status).toBe(400)
    expect((await login({ codeVerifier: "v".repeat(50) })).status).toBe(401)
    const answer = await login({ createData: { isAdmin: true } })
    expect([answer.status, answer.json]).toMatchObject([
      200,
      { record: { userID: "ME", isAdmin: false }, meta: { isNew: false } },
    ])
    const authorization = `Bearer ${answer.json["token"] as string}`
    expect((await send("GET", "/api/v2/whoami", { authorization })).status).toBe(200)
    expect((await login({})).status).toBe(401)
  })
})
