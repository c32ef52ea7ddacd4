import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"

type Json = Readonly<Record<string, unknown>>

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")
const seconds = (): number => Math.floor(Date.now() / 1000)

interface SigningKey {
  readonly kid: string
  readonly privateKey: KeyObject
  readonly published: Json
}
const newKey = (kid: string): SigningKey => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  return { kid, privateKey, published: { ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg: "ES256" } }
}

const jwt = (header: Json, claims: Json, key: SigningKey): string => {
  const signed = `${encoded(header)}.${encoded(claims)}`
  return `${signed}.${sign("sha256", Buffer.from(signed), { key: key.privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url")}`
}

/** What somebody sent to the page of the provider. */
interface Begun {
  readonly challenge: string
  readonly nonce: string
  readonly redirectUrl: string
}

export type Answering = (request: IncomingMessage, response: ServerResponse) => void

/** A small provider: real HTTP on this host and real keys. What it does wrong is set by a test. */
export const startProvider = async () => {
  let key = newKey("first")
  const begun = new Map<string, Begun>()
  const asked: { readonly path: string; readonly authorization: string | undefined; readonly body: string }[] = []
  const wrong: {
    /** Members of the document in place of the right ones. */
    document?: Json
    header?: Json
    claims?: Json
    /** Another answer to a path. */
    answers?: Readonly<Record<string, Answering>>
    /** Signs with this in place of the published key. */
    key?: SigningKey
  } = {}
  const reply = (response: ServerResponse, status: number, json: unknown): void => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(json))
  }
  const token = (body: string, response: ServerResponse): void => {
    const form = new URLSearchParams(body)
    const code = form.get("code") ?? ""
    const one = begun.get(code)
    begun.delete(code)
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url")
    if (one === undefined || one.challenge !== challenge || one.redirectUrl !== form.get("redirect_uri"))
      return reply(response, 400, { error: "invalid_grant", error_description: "the secret is s3cret" })
    const claims = {
      iss: url,
      sub: "248289761001",
      aud: "rangewright",
      iat: seconds(),
      exp: seconds() + 300,
      nonce: one.nonce,
      email: "ada@lab.example",
      email_verified: true,
      ...wrong.claims,
    }
    const signer = wrong.key ?? key
    const header = { alg: "ES256", kid: signer.kid, ...wrong.header }
    const idToken = header.alg === "none" ? `${encoded(header)}.${encoded(claims)}.` : jwt(header, claims, signer)
    return reply(response, 200, { access_token: "opaque", token_type: "Bearer", id_token: idToken })
  }
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (part: Buffer) => (body += part.toString()))
    request.on("end", () => {
      const path = request.url ?? ""
      asked.push({ path, authorization: request.headers.authorization, body })
      const other = wrong.answers?.[path]
      if (other !== undefined) return other(request, response)
      if (path === "/.well-known/openid-configuration") {
        const document = {
          issuer: url,
          authorization_endpoint: `${url}/authorize?tenant=lab`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/keys`,
          id_token_signing_alg_values_supported: ["ES256"],
        }
        return reply(response, 200, { ...document, ...wrong.document })
      }
      if (path === "/keys") return reply(response, 200, { keys: [key.published] })
      if (path === "/token") return token(body, response)
      return reply(response, 404, {})
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    wrong,
    asked,
    /** Somebody signs in at the address that they were sent to: the code that the browser comes back with. */
    signIn: (address: string): string => {
      const query = new URL(address).searchParams
      const code = `code ${begun.size + asked.length}`
      begun.set(code, {
        challenge: query.get("code_challenge") ?? "",
        nonce: query.get("nonce") ?? "",
        redirectUrl: query.get("redirect_uri") ?? "",
      })
      return code
    },
    rotate: () => (key = newKey("second")),
    strangersKey: newKey("first"),
    stop: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
