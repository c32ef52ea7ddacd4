import { IdentityProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { oidcLayer, type OidcOptions } from "../src/index.ts"
import { startProvider } from "./provider.ts"

let provider: Awaited<ReturnType<typeof startProvider>>
beforeEach(async () => {
  provider = await startProvider()
})
afterEach(async () => {
  vi.useRealTimers()
  await provider.stop()
})

const secret = "a very secret:secret"
const verifier = "v".repeat(50)
const redirectUrl = "https://lab.example/ui/login/return"
const begin = { verifier, nonce: "the nonce", state: "the state", redirectUrl }

/** One service's view of the provider. */
const client = (options: Partial<OidcOptions> = {}) => {
  const { issuer = provider.url } = options
  const layer = oidcLayer({ clientId: "rangewright", clientSecret: secret, scopes: ["openid", "email"], ...options, issuer })
  const service = Effect.runSync(Effect.provide(IdentityProvider, layer))
  const authorization = () => Effect.runPromise(service.authorization(begin))
  const redeem = (code: string, other: { readonly nonce?: string; readonly verifier?: string; readonly issuer?: string } = {}) =>
    Effect.runPromise(
      Effect.result(service.redeem({ ...begin, issuer: undefined, wanted: [], whose: "192.0.2.1", ...other, code })),
    )
  /** Somebody signs in, and the service judges what the browser brings. */
  const signIn = async (other?: Parameters<typeof redeem>[1]) => redeem(provider.signIn((await authorization()).url), other)
  const describing = () => Effect.runPromise(Effect.result(service.describe))
  return { authorization, redeem, signIn, describing }
}

/** The tag and message of a refusal, in which nothing secret may be. */
const refusal = (result: Awaited<ReturnType<ReturnType<typeof client>["signIn"]>>): string => {
  expect(result._tag).toBe("Failure")
  if (result._tag !== "Failure") return ""
  const all = `${result.failure._tag}: ${result.failure.message} ${result.failure.hint ?? ""}`
  expect(all).not.toMatch(/s3cret|very secret|opaque|vvvv/u)
  return all
}

describe("a sign-in at a provider", () => {
  test("sends the browser there with a challenge, and gives who it was", async () => {
    const { authorization, redeem } = client()
    const { url, challenge } = await authorization()
    const { searchParams, origin, pathname } = new URL(url)
    expect([origin + pathname, Object.fromEntries(searchParams)]).toEqual([
      `${provider.url}/authorize`,
      {
        tenant: "lab",
        response_type: "code",
        client_id: "rangewright",
        scope: "openid email",
        state: "the state",
        nonce: "the nonce",
        code_challenge: challenge,
        code_challenge_method: "S256",
        redirect_uri: redirectUrl,
      },
    ])
    expect(url).not.toContain(verifier)
    const code = provider.signIn(url)
    expect(await redeem(code)).toMatchObject({
      _tag: "Success",
      success: {
        issuer: `${provider.url}/`,
        subject: "248289761001",
        claims: { email: "ada@lab.example", email_verified: true },
      },
    })
    const sent = provider.asked.find(({ path }) => path === "/token")
    expect(sent?.authorization).toMatch(/^Basic /u)
    expect(JSON.stringify(provider.asked.map(({ path, body }) => path + body))).not.toContain("secret")
    expect(refusal(await redeem(code))).toMatch(/^CodeRefused: .*does not accept its code/u)
  })

  test("is refused for a code that was begun with another verifier, and for an answer that names another provider", async () => {
    expect(refusal(await client().signIn({ verifier: "w".repeat(50) }))).toMatch(/^CodeRefused/u)
    expect(refusal(await client().signIn({ issuer: "https://other.example" }))).toContain("Fault")
    expect(provider.asked.filter(({ path }) => path === "/token")).toHaveLength(1)
  })

  const hour = 3600
  const now = () => Math.floor(Date.now() / 1000)
  /** The provider says that it signs so, and does. */
  const unsigned = (alg: string) => (wrong: typeof provider.wrong) => {
    wrong.document = { id_token_signing_alg_values_supported: [alg, "ES256"] }
    wrong.header = { alg }
  }
  test.each<readonly [string, (wrong: typeof provider.wrong) => void, RegExp]>([
    ["another nonce", (wrong) => (wrong.claims = { nonce: "of another sign-in" }), /^CodeRefused: .*belongs to another sign-in/u],
    ["no nonce", (wrong) => (wrong.claims = { nonce: undefined }), /^(?:CodeRefused|ProviderFault)/u],
    ["another audience", (wrong) => (wrong.claims = { aud: "another" }), /^ProviderFault: .*for another client/u],
    [
      "several audiences and another party",
      (wrong) => (wrong.claims = { aud: ["rangewright", "x"], azp: "x" }),
      /another client/u,
    ],
    ["another issuer", (wrong) => (wrong.claims = { iss: "https://other.example" }), /^ProviderFault: .*from another issuer/u],
    [
      "a time that is over",
      (wrong) => (wrong.claims = { iat: now() - 2 * hour, exp: now() - hour }),
      /^ProviderFault: .*expired/u,
    ],
    ["no end", (wrong) => (wrong.claims = { exp: undefined }), /^ProviderFault/u],
    ["no signature", unsigned("none"), /^ProviderFault: .*signed by a method/u],
    ["a signature by the client's secret", unsigned("HS256"), /^ProviderFault: .*signed by a method/u],
    [
      "a method that the provider does not use",
      (wrong) => (wrong.header = { alg: "none" }),
      /^ProviderFault: .*cannot be trusted/u,
    ],
    ["a stranger's signature", (wrong) => (wrong.key = provider.strangersKey), /^ProviderFault/u],
    ["an unpublished key", (wrong) => (wrong.header = { kid: "unknown" }), /^ProviderFault: .*does not publish/u],
    ["nobody", (wrong) => (wrong.claims = { sub: "" }), /^ProviderFault/u],
    ["a subject with a line end", (wrong) => (wrong.claims = { sub: "a\nb" }), /^ProviderFault: .*no valid subject/u],
  ])("is refused for an ID token with %s", async (_, spoil, because) => {
    const { signIn } = client()
    spoil(provider.wrong)
    expect(refusal(await signIn())).toMatch(because)
  })

  test("follows the provider to new keys", async () => {
    const { signIn } = client()
    expect((await signIn())._tag).toBe("Success")
    provider.rotate()
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 })
    expect((await signIn())._tag).toBe("Success")
  })
})

describe("a provider that cannot be relied on", () => {
  const discovery = "/.well-known/openid-configuration"
  test.each<readonly [string, () => void, RegExp]>([
    ["names another issuer", () => (provider.wrong.document = { issuer: "https://other.example" }), /compare oidc_issuer/u],
    [
      "names a page without TLS",
      () => (provider.wrong.document = { authorization_endpoint: "http://evil.example/" }),
      /over TLS/u,
    ],
    [
      "names a script as its page",
      () => (provider.wrong.document = { authorization_endpoint: "javascript:alert(1)" }),
      /over TLS/u,
    ],
    [
      "redirects",
      () =>
        (provider.wrong.answers = { [discovery]: (_, to) => void to.writeHead(302, { location: "http://127.0.0.1:1/" }).end() }),
      /redirects/u,
    ],
    [
      "answers without end",
      () =>
        (provider.wrong.answers = {
          [discovery]: (_, to) => {
            const part = Buffer.alloc(64 * 1024, " ")
            const more = (): void => {
              while (!to.destroyed && to.write(part));
              to.once("drain", more)
            }
            to.writeHead(200, { "content-type": "application/json" })
            more()
          },
        }),
      /larger than 256 KiB/u,
    ],
    ["does not answer", () => (provider.wrong.answers = { [discovery]: () => undefined }), /in time/u],
    [
      "is broken",
      () => (provider.wrong.answers = { [discovery]: (_, to) => void to.writeHead(500).end("s3cret") }),
      /status 500/u,
    ],
    [
      "answers no JSON",
      () => (provider.wrong.answers = { [discovery]: (_, to) => void to.writeHead(200).end("<html>s3cret") }),
      /not JSON/u,
    ],
  ])("%s, and is of no use", async (_, spoil, because) => {
    spoil()
    const result = await client({ timeoutMillis: 500 }).describing()
    expect(result).toMatchObject({
      _tag: "Failure",
      failure: { _tag: "ProviderFault", message: expect.stringMatching(because) as string },
    })
    expect(JSON.stringify(result)).not.toContain("s3cret")
  })

  test("cannot send the service to hosts and ports that are not its own, nor get its secret without TLS", async () => {
    const other = await startProvider()
    try {
      // the last of them would be reached over TLS
      for (const token_endpoint of [
        `${other.url}/token`,
        other.url.replace("http:", "https:"),
        "https://169.254.169.254/latest",
      ]) {
        provider.wrong.document = { token_endpoint }
        expect(refusal(await client().signIn())).toMatch(
          /^ProviderFault: .*(?:does not use TLS|without TLS|may not be reached from here)/u,
        )
      }
      provider.wrong.document = { jwks_uri: `${other.url}/keys` }
      expect(refusal(await client().signIn())).toMatch(/^ProviderFault/u)
      const resolve = () => Promise.resolve(["10.0.0.1"])
      provider.wrong.document = { token_endpoint: "https://inside.example/" }
      expect(refusal(await client({ resolve }).signIn())).toContain("neither in this range nor public")
      expect(other.asked).toEqual([])
    } finally {
      await other.stop()
    }
  })

  test("goes away: what it said of itself is used meanwhile, and a code is not believed", async () => {
    const known = client()
    await known.authorization()
    await provider.stop()
    expect((await known.authorization()).url).toContain("/authorize")
    expect(refusal(await known.redeem("code"))).toMatch(/^ProviderFault: .*cannot be reached/u)
    expect(await client().describing()).toMatchObject({ _tag: "Failure", failure: { facts: { reason: "unavailable" } } })
  })

  test("is asked once for however many begin to sign in at a time", async () => {
    const { authorization } = client()
    await Promise.all(Array.from({ length: 50 }, authorization))
    expect(provider.asked).toHaveLength(1)
  })
})
