import { InvalidInput, type KeyScope, scopedKeyDays } from "@rangewright/domain"
import { CredentialHasher, ScopedKeys } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { rangeOfBody } from "../access/select-range.ts"
import { operation } from "../operation/operation.ts"
import { ScopedKeyObject, scopedKeyObject } from "../wire/scoped-key.ts"

const day = 86_400_000

/** Refuses sessions: the thief of one would get a key that lasts a year. */
export const createScopedKey = operation({
  id: "createScopedKey",
  route: "POST /user/keys",
  group: "User",
  origin: "ours",
  does: "create an API key",
  summary: "Create a further API key that expires, and that may only read or only use one range",
  access: "user",
  target: "none",
  wholeKeyOnly: true,
  refusesSession: true,
  audited: ["name", "scope", "rangeID", "days"],
  body: {
    type: "json",
    required: true,
    schema: Schema.Struct({
      /** Its purpose, for people. */
      name: Schema.String.check(Schema.isPattern(/^[^\p{Cc}]{1,64}$/u)),
      scope: Schema.Literals(["read", "range"]),
      /** The range of a key of scope `range`. */
      rangeID: Schema.optionalKey(Schema.String),
      /** Days until it expires. */
      days: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: scopedKeyDays })),
    }),
  },
  output: {
    type: "json",
    status: 201,
    schema: Schema.Struct({ ...ScopedKeyObject.fields, apiKey: Schema.String }).annotate({ identifier: "NewScopedKey" }),
  },
  statuses: {
    201: "the key, which is shown only now",
    400: "a member is missing or wrong; rangeID is given with scope read, or missing with scope range",
    403: "the user may not use the range; the request was sent with a session",
    404: "the range is unknown",
    409: "the user has too many keys",
  },
  handle: ({ body, user }) =>
    Effect.gen(function* () {
      const keys = yield* ScopedKeys
      const { name, scope: kind, rangeID = "", days } = body
      if ((kind === "range") === (rangeID === ""))
        return yield* new InvalidInput({
          what: `Cannot create an API key: a key of scope ${kind} ${kind === "range" ? "needs" : "takes no"} rangeID`,
          issues: [{ path: "rangeID", message: kind === "range" ? "name a range" : "leave it out" }],
        })
      const scope: KeyScope = kind === "range" ? { kind, rangeId: (yield* rangeOfBody(rangeID, undefined, user)).id } : { kind }
      const hasher = yield* CredentialHasher
      const id = hasher.randomText(12)
      const apiKey = `${user.id}.${id}-${hasher.randomText(40)}`
      const now = yield* Clock.currentTimeMillis
      const key = {
        id,
        userId: user.id,
        name,
        hash: hasher.hash(apiKey),
        scope,
        createdAt: new Date(now),
        expiresAt: new Date(now + days * day),
      }
      yield* keys.create(key)
      return { ...scopedKeyObject(key), apiKey }
    }),
})
