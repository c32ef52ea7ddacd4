import type { Operation } from "@rangewright/application"
import type { RecordId, UserId } from "@rangewright/domain"
import { CredentialHasher, TokenSigner, Users } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type { Headers } from "./ask.ts"
import type { WholeService } from "./service.ts"

/** The callers and what they select, as the columns of the table name them. */
export const callers = ["stranger", "member", "admin", "root", "root on R1", "admin as stranger", "admin as member"] as const
export type Caller = (typeof callers)[number]

/** The caller's query: R1 is named by callers whose default range it is not. */
export const selectionOf = (caller: Caller, { target }: Operation): string => {
  const onR1 = target === "range" ? "rangeID=R1" : ""
  switch (caller) {
    case "stranger":
    case "admin":
      return onR1
    case "member":
    case "root":
      return ""
    case "root on R1":
      return "rangeID=R1"
    case "admin as stranger":
      return onR1 === "" ? "userID=ST" : `userID=ST&${onR1}`
    case "admin as member":
      return "userID=ME"
  }
}

const keyOf = ({ keys }: WholeService, caller: Caller): string =>
  keys[caller === "stranger" || caller === "member" ? caller : caller.startsWith("root") ? "root" : "admin"]

export const withKey = (service: WholeService, caller: Caller): Headers => ({ "x-api-key": keyOf(service, caller) })
export const withToken = (service: WholeService, caller: Caller): Headers => {
  const who = caller === "stranger" || caller === "member" ? caller : caller.startsWith("root") ? "root" : "admin"
  return { authorization: `Bearer ${service.tokens[who]}` }
}

const week = 7 * 24 * 60 * 60 * 1000

/** A user who exists for a while: their key, a token, and an expired token. */
const addUser = (id: string, recordId: string) =>
  Effect.gen(function* () {
    const users = yield* Users
    const hasher = yield* CredentialHasher
    const signer = yield* TokenSigner
    const key = `${id}.${hasher.randomText(40)}`
    const tokenKey = hasher.randomText(50)
    const subject = { userId: id as UserId, recordId: recordId as RecordId, tokenKey }
    yield* users.create({
      id: subject.userId,
      recordId: subject.recordId,
      name: id,
      email: `${id}@lab.example`,
      isAdmin: true,
      hypervisorUsername: id.toLowerCase(),
      hypervisorRealm: "pve",
      secrets: { apiKeyHash: hasher.hash(key), sealedPassword: undefined, tokenKey },
      createdAt: new Date(0),
    })
    return {
      id: subject.userId,
      key,
      token: yield* signer.sign(subject, "auth", new Date()),
      ended: yield* signer.sign(subject, "auth", new Date(Date.now() - week - 60_000)),
    }
  })

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url")

/** The token with this in its header or claims, and its original signature. */
const forged = (token: string, head: object, claims: object): string => {
  const [first = "", second = "", signature = ""] = token.split(".")
  const read = (part: string) => JSON.parse(Buffer.from(part, "base64url").toString()) as object
  return [encoded({ ...read(first), ...head }), encoded({ ...read(second), ...claims }), signature].join(".")
}

/** Every kind of invalid credentials. Creates the administrators whose credentials are void. */
export const voidCredentials = async (service: WholeService): Promise<Readonly<Record<string, Headers>>> => {
  const made = Effect.gen(function* () {
    const users = yield* Users
    const hasher = yield* CredentialHasher
    const removed = yield* addUser("GONE", "record000000090")
    const changed = yield* addUser("CHANGED", "record000000091")
    yield* users.remove(removed.id)
    yield* users.setSecrets(changed.id, { apiKeyHash: hasher.hash("CHANGED.new"), tokenKey: hasher.randomText(50) })
    return { removed, changed, ended: yield* addUser("LATE", "record000000092") }
  })
  const exit = await Effect.runPromise(Fiber.await(service.run(made)))
  if (Exit.isFailure(exit)) throw new Error(String(exit.cause))
  const { removed, changed, ended } = exit.value
  const { admin, member } = service.keys
  const token = service.tokens.admin
  const bearer = (text: string): Headers => ({ authorization: `Bearer ${text}` })
  const [, secret = ""] = admin.split(".")
  return {
    nothing: {},
    "a key without a dot": { "x-api-key": `AD${secret}` },
    "a key with two dots": { "x-api-key": `${admin}.x` },
    "an empty key": { "x-api-key": "" },
    "a key without a secret": { "x-api-key": "AD." },
    "a wrong key": { "x-api-key": `AD.${"x".repeat(40)}` },
    "a shortened key": { "x-api-key": admin.slice(0, -1) },
    "another user's secret": { "x-api-key": `AD.${member.split(".")[1] ?? ""}` },
    "a key in another case": { "x-api-key": `ad.${secret}` },
    "a key of nobody": { "x-api-key": `NOBODY.${secret}` },
    "a key of a hostile id": { "x-api-key": `__proto__.${secret}` },
    "a revoked key": { "x-api-key": changed.key },
    "a removed user's key": { "x-api-key": removed.key },
    "two keys": { "x-api-key": `${admin}, ${member}` },
    "a wrong key beside a token": { "x-api-key": `AD.${"x".repeat(40)}`, ...bearer(token) },
    "a key as a token": bearer(admin),
    "a key as basic credentials": { authorization: `Basic ${Buffer.from(admin.replace(".", ":")).toString("base64")}` },
    "a key as a cookie": { cookie: `x-api-key=${admin}; X-API-KEY=${admin}` },
    "nonsense as a token": bearer("x.y.z"),
    "a token without a signature": bearer(`${token.split(".").slice(0, 2).join(".")}.`),
    "a token that is signed by nothing": bearer(`${encoded({ alg: "none", typ: "JWT" })}.${token.split(".")[1] ?? ""}.`),
    "a token of another algorithm": bearer(forged(token, { alg: "HS512" }, {})),
    "a token made another user's": bearer(forged(service.tokens.member, {}, { id: "record000000001" })),
    "a token made to last": bearer(forged(ended.ended, {}, { exp: 4_000_000_000 })),
    "an expired token": bearer(ended.ended),
    "a token from before the password changed": bearer(changed.token),
    "a removed user's token": bearer(removed.token),
    "a token as a cookie": { cookie: `pb_auth=${token}; token=${token}; session=${token}; __Host-rangewright=${token}` },
    "a token as a key": { "x-api-key": token },
  }
}
