import { Sessions, Users } from "@rangewright/ports"
import type { UserId } from "@rangewright/domain"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { request } from "node:http"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
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

type Headers = Readonly<Record<string, string>>
interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly json: Readonly<Record<string, unknown>>
}

/** Sends exactly these headers, as a browser on any page would. */
const send = (method: string, path: string, headers: Headers = {}, body?: unknown): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body)
    const sent = request(
      `${service.url}${path}`,
      { method, headers: { ...headers, ...(text === undefined ? {} : { "content-type": "application/json" }) } },
      (response) => {
        let all = ""
        response.on("data", (part: Buffer) => (all += part.toString()))
        response.on("error", reject)
        response.on("end", () => {
          const isJson = response.headers["content-type"] === "application/json"
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            json: (isJson ? JSON.parse(all) : { text: all }) as Answer["json"],
          })
        })
      },
    )
    sent.on("error", reject)
    sent.end(text)
  })

const setCookie = ({ headers }: Answer): string => headers["set-cookie"]?.[0] ?? ""
const cookieOf = (answer: Answer): string => setCookie(answer).split(";")[0] ?? ""

/** Signs in, and returns the header that the browser sends afterwards. */
const signIn = async (body: unknown = { email: "member@lab.example", password }): Promise<{ readonly cookie: string }> => {
  const answer = await send("POST", "/ui/session", ofOwnPage, body)
  expect([answer.status, answer.json]).toEqual([200, answer.json])
  return { cookie: cookieOf(answer) }
}

const run = <A>(effect: Effect.Effect<A, never, Users | Sessions>) => Effect.runPromise(Fiber.await(service.run(effect)))

describe("a session", () => {
  it("starts with an email address or user ID and its password, or with a key, and scripts cannot read its cookie", async () => {
    for (const body of [{ email: "Member@lab.example", password }, { userID: "ME", password }, { apiKey: service.keys.member }]) {
      const answer = await send("POST", "/ui/session", ofOwnPage, body)
      expect(answer.json).toMatchObject({ userID: "ME", name: "member", isAdmin: false, defaultRangeID: "R1" })
      expect(setCookie(answer)).toMatch(
        /^__Host-rangewright=[0-9A-Za-z]{43}; Max-Age=604800; Path=\/; Secure; HttpOnly; SameSite=Strict$/u,
      )
      expect(answer.headers["cache-control"]).toBe("no-store")
      expect(answer.headers).not.toHaveProperty("access-control-allow-origin")
      const cookie = cookieOf(answer)
      expect((await send("GET", "/api/v2/whoami", { cookie })).json).toMatchObject({ user: { userID: "ME" } })
      expect((await send("GET", "/ui/session", { cookie })).json).toEqual(answer.json)
    }
  })

  it("starts with a key imported from the first generation, whose hash the same request replaces", async () => {
    const hash = "$2b$04$abcdefghijklmnopqrstuu7mj0gnDIEetXvxbxGxymJLeDAPu9P7K"
    const made = service.store.users.get("ME" as UserId)!
    const user = { ...made.user, id: "JD" as UserId }
    service.store.users.set(user.id, { user, secrets: { ...made.secrets, apiKeyHash: hash } })
    const apiKey = "JD._7Gx2T5kTUSD%uTWZ*lFi=Os6MpFR^OrG+yT94Xt"
    for (const _time of ["slow hash", "own hash"]) expect(await signIn({ apiKey })).toHaveProperty("cookie")
    expect(service.store.users.get(user.id)?.secrets.apiKeyHash).not.toBe(hash)
  })

  it("is refused in the same way for every user, and guessing is slowed down whichever name is used", async () => {
    const refusals = [
      await send("POST", "/ui/session", ofOwnPage, { email: "nobody@lab.example", password }),
      await send("POST", "/ui/session", ofOwnPage, { userID: "NOBODY", password }),
      await send("POST", "/ui/session", ofOwnPage, { userID: "__proto__", password }),
      await send("POST", "/ui/session", ofOwnPage, { userID: "ROOT", password }),
      await send("POST", "/ui/session", ofOwnPage, { email: "member@lab.example", password: "wrong" }),
    ]
    expect(new Set(refusals.map(({ status, json }) => `${status} ${String(json["error"])}`)).size).toBe(1)
    expect(refusals[0]?.status).toBe(401)
    expect((await send("POST", "/ui/session", ofOwnPage, { apiKey: "ME.wrong" })).status).toBe(401)
    const statuses: number[] = []
    for (let n = 0; n < 12; n++) {
      const who = n % 2 === 0 ? { userID: "ME" } : { email: "member@lab.example" }
      const answer = await send("POST", "/ui/session", ofOwnPage, { ...who, password: `wrong ${n}` })
      statuses.push(answer.status)
      if (answer.status === 429) expect(Number(answer.headers["retry-after"])).toBeGreaterThanOrEqual(1)
    }
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(5)
  })

  it.each([
    {},
    { email: "member@lab.example" },
    { email: "", password: "x" },
    { email: "x".repeat(300), password: "x" },
    { email: ["member@lab.example"], password: "x" },
    { apiKey: 7 },
    [],
  ])("does not start with %j", async (body) => {
    expect((await send("POST", "/ui/session", ofOwnPage, body)).status).toBe(400)
  })

  it("is ignored when a key or a token is sent", async () => {
    const member = await signIn()
    const own = await send("GET", "/api/v2/whoami", { ...member, "x-api-key": service.keys.admin })
    expect(own.json).toMatchObject({ user: { userID: "AD" } })
    expect((await send("GET", "/api/v2/whoami", { ...member, "x-api-key": "ME.wrong" })).status).toBe(401)
    expect((await send("GET", "/api/v2/whoami", { ...member, authorization: "Bearer x.y.z" })).status).toBe(401)
    expect((await send("GET", "/api/collections/ranges/records", member)).status).toBe(401)
  })

  it.each([
    ["no cookie", ""],
    ["an empty one", "__Host-rangewright="],
    ["a short one", "__Host-rangewright=abc"],
    ["one of nobody", `__Host-rangewright=${"a".repeat(43)}`],
    ["a long one", `__Host-rangewright=${"a".repeat(4000)}`],
    ["a hash from the store", `__Host-rangewright=${"0".repeat(64)}`],
    ["characters of SQL", `__Host-rangewright=${"'%20or%201=1--".padEnd(43, "a")}`],
    ["another name", `rangewright=${"a".repeat(43)}`],
  ])("does not exist with %s", async (_what, cookie) => {
    expect((await send("GET", "/ui/session", { cookie })).status).toBe(401)
    expect((await send("GET", "/api/v2/whoami", { cookie })).status).toBe(401)
    expect((await send("GET", "/api/v2/no/such/path", { cookie })).status).toBe(401)
  })

  it("is refused when two cookies contradict each other", async () => {
    const { cookie } = await signIn()
    expect((await send("GET", "/ui/session", { cookie: `${cookie}; ${cookie}` })).status).toBe(200)
    expect((await send("GET", "/ui/session", { cookie: `${cookie}; __Host-rangewright=${"a".repeat(43)}` })).status).toBe(401)
  })

  it("ends at sign-out, and the cookie is cleared", async () => {
    const member = await signIn()
    const other = await signIn()
    const out = await send("DELETE", "/ui/session", { ...member, ...ofOwnPage })
    expect([out.status, setCookie(out)]).toEqual([200, expect.stringMatching(/^__Host-rangewright=; Max-Age=0; /u)])
    expect((await send("GET", "/api/v2/whoami", member)).status).toBe(401)
    expect((await send("GET", "/api/v2/whoami", other)).status).toBe(200)
    // also when it has already ended
    expect((await send("DELETE", "/ui/session", { ...member, ...ofOwnPage })).status).toBe(200)
  })

  it("is listed for its user, who ends one or all", async () => {
    const member = await signIn()
    const other = await signIn()
    const admin = await signIn({ userID: "AD", password })
    const list = (await send("GET", "/ui/sessions", { ...member, "user-agent": "x" })).json as unknown as {
      readonly sessionID: string
      readonly current: boolean
    }[]
    expect(list.filter(({ current }) => current)).toHaveLength(1)
    // including the one from before
    expect(list).toHaveLength(3)
    const [another] = list.filter(({ current }) => !current)
    const path = `/ui/sessions/${another?.sessionID ?? ""}`
    expect((await send("DELETE", path, { ...ofOwnPage, "x-api-key": service.keys.stranger })).status).toBe(404)
    expect((await send("DELETE", path, { ...member, ...ofOwnPage })).status).toBe(200)
    expect((await send("DELETE", path, { ...member, ...ofOwnPage })).status).toBe(404)
    expect((await send("GET", "/ui/session", other)).status).toBe(401)
    expect((await send("DELETE", "/ui/sessions", { ...member, ...ofOwnPage })).status).toBe(200)
    expect((await send("GET", "/ui/session", member)).status).toBe(401)
    expect((await send("GET", "/ui/session", admin)).status).toBe(200)
  })

  it("ends with a new password, a new key, the loss of administrator rights, and the removal of the user", async () => {
    const users = (change: (users: Users["Service"]) => Effect.Effect<unknown, unknown>) =>
      run(Effect.asVoid(Effect.orDie(Effect.flatMap(Users, change))))
    const ended = async (who: string, change: () => Promise<unknown>) => {
      const session = await signIn(who === "AD" ? { userID: who, password } : { apiKey: service.keys.member })
      expect((await send("GET", "/ui/session", session)).status).toBe(200)
      await change()
      expect((await send("GET", "/ui/session", session)).status).toBe(401)
    }
    await ended("ME", () =>
      send(
        "PATCH",
        "/api/collections/users/records/record000000002",
        { "x-api-key": service.keys.member },
        {
          oldPassword: password,
          password: "a really new one",
          passwordConfirm: "a really new one",
        },
      ),
    )
    await users((all) => all.setAdmin("ST" as UserId, true))
    await ended("AD", () => users((all) => all.setAdmin("AD" as UserId, false)))
    await ended("AD", () => send("GET", "/api/v2/user/apikey", { "x-api-key": service.keys.admin }))
    await ended("ME", () => users((all) => all.remove("ME" as UserId)))
  })

  it("ends after 12 hours without use, and after 7 days", async () => {
    const { cookie } = await signIn()
    const [hash, kept] = [...service.store.sessions].find(([, { remote }]) => remote !== "192.0.2.7") ?? []
    if (hash === undefined || kept === undefined) throw new Error("no session is kept")
    const at = async (createdHoursAgo: number, seenHoursAgo: number) => {
      const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000)
      service.store.sessions.set(hash, { ...kept, createdAt: ago(createdHoursAgo), lastSeenAt: ago(seenHoursAgo) })
      return (await send("GET", "/ui/session", { cookie })).status
    }
    expect(await at(13, 11.9)).toBe(200)
    // its use was recorded
    expect(Date.now() - (service.store.sessions.get(hash)?.lastSeenAt.getTime() ?? 0)).toBeLessThan(60_000)
    expect(await at(13, 12)).toBe(401)
    expect(await at(167.9, 0)).toBe(200)
    expect(await at(168, 0)).toBe(401)
  })

  it("leaves nothing in the store that could open it", async () => {
    const { cookie } = await signIn()
    const secret = cookie.split("=")[1] ?? ""
    expect(secret).toHaveLength(43)
    expect(JSON.stringify([...service.store.sessions])).not.toContain(secret)
    expect(JSON.stringify(service.store.audit)).not.toContain(secret)
  })
})

describe("a page of another origin", () => {
  const host = () => `127.0.0.1:${service.port}`
  const change = (headers: Headers) => send("PUT", "/api/v2/range/poweroff", headers, { machines: ["all"] })

  it("changes nothing with a session: every change needs the header and a page of the same origin", async () => {
    const member = await signIn()
    const custom = { "x-rangewright": "1" }
    for (const headers of [
      {},
      custom,
      { "sec-fetch-site": "same-origin" },
      { ...custom, "sec-fetch-site": "same-site" },
      { ...custom, "sec-fetch-site": "cross-site" },
      { ...custom, "sec-fetch-site": "none" },
      { ...custom, "sec-fetch-site": "" },
      { ...custom, origin: `http://127.0.0.1:${service.port + 1}` },
      { ...custom, origin: "https://evil.example" },
      { ...custom, origin: "null" },
      { ...custom, origin: `http://${host()}.evil.example` },
      { ...custom, "sec-fetch-site": "same-origin", origin: "https://evil.example" },
    ] as readonly Headers[]) {
      const answer = await change({ ...member, ...headers })
      expect([headers, answer.status]).toEqual([headers, 403])
      expect(answer.json["error"]).toMatch(/page of the service/u)
    }
    expect((await change({ ...member, ...ofOwnPage })).status).toBe(200)
    expect((await change({ ...member, ...custom, origin: `http://${host()}` })).status).toBe(200)
    // an API key needs neither
    expect((await change({ "x-api-key": service.keys.member, origin: "https://evil.example" })).status).toBe(200)
  })

  it("reads nothing with a session", async () => {
    const member = await signIn()
    for (const headers of [
      { "sec-fetch-site": "same-site" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "none", origin: "https://evil.example" },
      { origin: `http://127.0.0.1:${service.port + 1}` },
    ] as readonly Headers[])
      expect([headers, (await send("GET", "/api/v2/whoami", { ...member, ...headers })).status]).toEqual([headers, 403])
    for (const headers of [{ "sec-fetch-site": "none" }, { "sec-fetch-site": "same-origin" }, {}] as readonly Headers[])
      expect((await send("GET", "/api/v2/whoami", { ...member, ...headers })).status).toBe(200)
  })

  it("signs nobody in or out", async () => {
    const body = { apiKey: service.keys.member }
    for (const headers of [
      {},
      { "x-rangewright": "1" },
      { ...ofOwnPage, origin: "https://evil.example" },
    ] as readonly Headers[]) {
      const answer = await send("POST", "/ui/session", headers, body)
      expect([answer.status, setCookie(answer)]).toEqual([403, ""])
    }
    const member = await signIn()
    expect((await send("DELETE", "/ui/session", { ...member, "sec-fetch-site": "cross-site" })).status).toBe(403)
    expect((await send("GET", "/ui/session", member)).status).toBe(200)
  })
})

describe("with a session", () => {
  it.each(["credentials", "ansibleinventory"])("a link shows no logins of machines, and the page does (%s)", async (of) => {
    const member = await signIn()
    const read = async (headers: Headers) =>
      (await send("GET", `/api/v2/range/${of}?rangeID=R1`, { ...member, ...headers })).status
    for (const headers of [{}, { "sec-fetch-site": "none" }, { "sec-fetch-site": "same-origin" }] as readonly Headers[])
      expect([headers, await read(headers)]).toEqual([headers, 403])
    expect(await read(ofOwnPage)).toBe(200)
  })

  it("neither a link nor the page replaces the API key", async () => {
    const member = await signIn()
    const before = service.store.users.get("ME" as UserId)?.secrets.apiKeyHash
    const answer = await send("GET", "/api/v2/user/apikey", { ...member, ...ofOwnPage })
    expect([answer.status, answer.json["error"]]).toEqual([403, expect.stringContaining("with a session")])
    expect(service.store.users.get("ME" as UserId)?.secrets.apiKeyHash).toBe(before)
  })

  it("no API key can be made, since it would outlast the session", async () => {
    const member = await signIn()
    const before = service.store.scopedKeys.size
    const body = { name: "mine", scope: "read", days: 366 }
    const answer = await send("POST", "/api/v2/user/keys", { ...member, ...ofOwnPage }, body)
    expect([answer.status, answer.json["error"]]).toEqual([403, expect.stringContaining("with a session")])
    expect(service.store.scopedKeys.size).toBe(before)
    expect((await send("POST", "/api/v2/user/keys", { "x-api-key": service.keys.member }, body)).status).toBe(201)
  })

  it("the password is not read, since it would outlast the session", async () => {
    const member = await signIn()
    const answer = await send("GET", "/api/v2/user/credentials", { ...member, ...ofOwnPage })
    expect([answer.status, answer.json["error"]]).toEqual([403, expect.stringContaining("with a session")])
    expect((await send("GET", "/api/v2/user/credentials", { "x-api-key": service.keys.member })).status).toBe(200)
  })

  it("the own password changes only with the current one, since it would outlast the session", async () => {
    const next = "a tidy harbour at dusk"
    const set = async (session: Headers, body: object, path = "/api/v2/user/credentials") => {
      const { status, json } = await send("POST", path, { ...session, ...ofOwnPage }, { proxmoxPassword: next, ...body })
      return [status, json["error"], json["hint"]]
    }
    const member = await signIn()
    const hint = expect.stringContaining("administrator for an invitation") as string
    for (const body of [{}, { userID: "ME" }, { currentPassword: "" }, { currentPassword: next }])
      expect(await set(member, body)).toEqual([400, expect.stringMatching(/^Cannot set the password of ME\b.*current/u), hint])
    expect((await send("GET", "/ui/session", member)).status).toBe(200)
    expect(await set(member, { currentPassword: password })).toEqual([200, undefined, undefined])
    expect((await send("GET", "/ui/session", member)).status).toBe(401)
    expect(await signIn({ userID: "ME", password: next })).toHaveProperty("cookie")
    // administrators set the passwords of others, but their own as everybody does
    const admin = await signIn({ userID: "AD", password })
    expect(await set(admin, { userID: "ST" })).toEqual([200, undefined, undefined])
    expect((await set(admin, {}))[0]).toBe(400)
    await run(Effect.asVoid(Effect.orDie(Users.use((users) => users.setAdmin("ST" as UserId, true)))))
    expect((await set(admin, { userID: "AD" }, "/api/v2/user/credentials?userID=ST"))[0]).toBe(400)
    // an API key is worth more than the password
    expect((await set({ "x-api-key": service.keys.admin }, {}))[0]).toBe(200)
  })

  it("the current password cannot be guessed by changing it", async () => {
    const member = await signIn()
    const set = (currentPassword: string) =>
      send(
        "POST",
        "/api/v2/user/credentials",
        { ...member, ...ofOwnPage },
        { proxmoxPassword: "a tidy harbour at dusk", currentPassword },
      )
    const texts = new Set<string>()
    for (let n = 0; n < 12; n++) {
      const { status, json } = await set(`wrong ${n}`)
      expect(status).toBe(400)
      texts.add(String(json["error"]).replace(/\d+ s/u, "N s"))
    }
    expect([...texts]).toEqual([expect.stringContaining("wrong"), expect.stringContaining("too many wrong passwords")])
    expect((await set(password)).status).toBe(400)
  })

  it("nobody invites themselves, since the invitation would set the password", async () => {
    const admin = await signIn({ userID: "AD", password })
    const invite = async (headers: Headers) =>
      (await send("POST", "/api/v2/user/invites", headers, { userIDs: ["AD", "ME"] })).json as {
        readonly invites?: readonly { readonly userID: string }[]
        readonly errors?: readonly { readonly item: string; readonly reason: string }[]
      }
    const made = await invite({ ...admin, ...ofOwnPage })
    expect(made.invites?.map(({ userID }) => userID)).toEqual(["ME"])
    expect(made.errors).toEqual([{ item: "AD", reason: expect.stringContaining("with a session") }])
    const byKey = await invite({ "x-api-key": service.keys.admin })
    expect(byKey.invites?.map(({ userID }) => userID)).toEqual(["AD", "ME"])
  })

  it("reads do not keep a range in use; changes and requests with a key do", async () => {
    const member = await signIn()
    const seen: string[] = []
    const { Activity } = await import("@rangewright/application")
    const stamp = async () => {
      await Effect.runPromise(
        Fiber.await(
          service.run(
            Effect.map(Activity, (activity) => void seen.push(String(activity.lastOfRange("R1" as never)?.at.getTime()))),
          ),
        ),
      )
      return seen.at(-1)
    }
    const first = await stamp()
    expect((await send("GET", "/api/v2/range", member)).status).toBe(200)
    expect(await stamp()).toBe(first)
    expect((await send("PUT", "/api/v2/range/poweroff", { ...member, ...ofOwnPage }, { machines: ["all"] })).status).toBe(200)
    const changed = await stamp()
    expect(changed).not.toBe(first)
    await send("GET", "/api/v2/range", { "x-api-key": service.keys.member })
    expect(Number(await stamp())).toBeGreaterThanOrEqual(Number(changed))
  })

  it("a console ticket is given only to pages of the service", async () => {
    const member = await signIn()
    const path = "/api/v2/vm/console/ticket?VMID=20000"
    expect((await send("GET", path, { ...member, "sec-fetch-site": "same-site" })).status).toBe(403)
    expect((await send("GET", path, { ...member, "sec-fetch-site": "same-origin" })).json).toHaveProperty("ticket")
  })
})
