import { SignIns } from "@rangewright/application"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { password, startWholeService, type WholeService } from "./service.ts"

let service: WholeService
beforeEach(async () => {
  service = await startWholeService()
})
afterEach(async () => {
  expect(service.defects).toEqual([])
  await service.stop()
})

const signIn = async (identity: string, secret: string) => {
  const response = await fetch(`${service.url}/api/collections/users/auth-with-password`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ identity, password: secret }),
  })
  const body = (await response.json()) as { readonly token?: string; readonly message?: string; readonly data?: unknown }
  return { status: response.status, body, retryAfter: response.headers.get("retry-after") }
}

/** Tries wrong passwords until one is not checked. */
const guess = async (identity: string) => {
  for (let i = 0; i < 20; i++) {
    const answer = await signIn(identity, `wrong ${i}`)
    if (answer.status !== 400) return answer
  }
  throw new Error("every guess was looked at")
}

const flush = () => Effect.runPromise(Fiber.await(service.run(SignIns.use(({ flush: write }) => write))))

describe("signing in", () => {
  it("is slowed down after wrong passwords, and then even the right one must wait", async () => {
    const refused = await guess("member@lab.example")
    expect(refused).toMatchObject({ status: 429, body: { status: 429, data: {} } })
    expect(Number(refused.retryAfter)).toBeGreaterThanOrEqual(1)
    expect(refused.body.message).toContain(`${refused.retryAfter} s`)
    expect((await guess("MEMBER@lab.example")).status).toBe(429)
    // these few failures do not keep another account at the same address out
    expect((await signIn("admin@lab.example", password)).status).toBe(200)
  })

  it("fails in the same way for an unknown user, a user without a password, and a wrong password", async () => {
    const answers = [
      await signIn("nobody@lab.example", password),
      await signIn("root@lab.example", password),
      await signIn("member@lab.example", "wrong"),
    ]
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(new Set([JSON.stringify(answers[0])]))
    expect(answers[0]?.status).toBe(400)
    expect((await guess("nobody@lab.example")).status).toBe(429)
  })

  it("checks concurrent attempts one after another", async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => signIn("member@lab.example", `wrong ${i}`)))
    const looked = answers.filter(({ status }) => status === 400).length
    expect(looked).toBeLessThan(20)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(200 - looked)
  })

  it("leaves one audit entry for a success, with user and address, and one for all failures within a while", async () => {
    const before = service.store.audit.length
    expect((await signIn("member@lab.example", password)).body.token).toMatch(/^ey/u)
    expect(service.store.audit.slice(before)).toMatchObject([
      { operation: "recordLogin", callerId: "ME", outcome: "ok", remote: "127.0.0.1" },
    ])
    await guess("member@lab.example")
    await Promise.all(Array.from({ length: 50 }, () => signIn("member@lab.example", "wrong again")))
    expect(service.store.audit).toHaveLength(before + 1)
    await flush()
    const [entry, ...more] = service.store.audit.slice(before + 1)
    expect(more).toEqual([])
    expect(entry).toMatchObject({ operation: "recordLogin", actingAs: "ME", callerId: undefined, outcome: "WrongPassword" })
    expect(entry?.detail).toMatch(/^wrong=\d+ throttled=\d+ since=/u)
  })
})

describe("a user's own password", () => {
  const change = async (oldPassword: string, next = "a really new one") => {
    const response = await fetch(`${service.url}/api/collections/users/records/record000000002`, {
      method: "PATCH",
      headers: { "content-type": "application/json", "x-api-key": service.keys.member },
      body: JSON.stringify({ oldPassword, password: next, passwordConfirm: next }),
    })
    return { status: response.status, text: await response.text() }
  }

  it("cannot be guessed by trying to change it either", async () => {
    const texts = new Set<string>()
    for (let i = 0; i < 15; i++) {
      const { status, text } = await change(`wrong ${i}`)
      expect(status).toBe(400)
      texts.add(text.replace(/\d+ s/u, "N s"))
    }
    expect(texts.size).toBe(2)
    expect([...texts][1]).toContain("Too many wrong passwords")
  })

  it("is refused with a reason when it is easy to guess, wherever it is set", async () => {
    expect(await change(password, "Password1!")).toMatchObject({ status: 400, text: expect.stringContaining("common") as string })
    const send = (path: string, body: object) =>
      fetch(`${service.url}/api/v2${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-api-key": service.keys.admin },
        body: JSON.stringify(body),
      })
    const set = await send("/user/credentials", { userID: "ME", proxmoxPassword: "member-2026" })
    expect([set.status, await set.text()]).toEqual([400, expect.stringContaining("own names")])
    const added = await send("/user", { name: "Some Body", userID: "SB", email: "s@lab.example", password: "12345678" })
    expect([added.status, await added.text()]).toEqual([400, expect.stringContaining("sequence")])
    expect((await signIn("member@lab.example", password)).status).toBe(200)
  })
})
