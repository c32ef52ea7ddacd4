import { isRecordId } from "@rangewright/domain"
import { tokenDays, TokenSigner } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { decodeJwt, jwtVerify, SignJWT } from "jose"
import { createHmac } from "node:crypto"
import { keyFor, type MasterKey } from "./master-key.ts"

const lifetimeSeconds = tokenDays * 24 * 60 * 60
/** How much later than now a token may have been signed, because clocks are not exact. */
const aheadSeconds = 60 * 60
/** Value that clients of the record API expect in a token. */
const collectionId = "_pb_users_auth_"
const longestToken = 4096

/** A user's tokens are signed with a key derived from the service's and the user's own: changing either voids them. */
export const tokenSigner = (master: MasterKey): TokenSigner["Service"] => {
  const service = keyFor(master, "token")
  const keyOf = (tokenKey: string): Uint8Array => createHmac("sha256", service).update(tokenKey, "utf8").digest()
  return {
    sign: (subject, use, now) =>
      Effect.promise(() =>
        new SignJWT({ id: subject.recordId, type: use, collectionId, refreshable: use === "auth" })
          .setProtectedHeader({ alg: "HS256", typ: "JWT" })
          .setExpirationTime(Math.floor(now.getTime() / 1000) + lifetimeSeconds)
          .sign(keyOf(subject.tokenKey)),
      ),
    subject: (token) => {
      if (token.length > longestToken) return undefined
      try {
        const { id } = decodeJwt(token)
        return typeof id === "string" && isRecordId(id) ? id : undefined
      } catch {
        return undefined
      }
    },
    verify: (token, tokenKey, use, now) =>
      Effect.promise(() =>
        jwtVerify(token, keyOf(tokenKey), { algorithms: ["HS256"], currentDate: now, requiredClaims: ["exp"] }).then(
          ({ payload }) =>
            payload["type"] === use &&
            payload["collectionId"] === collectionId &&
            // one that is valid for longer was signed before the clock was set back
            (payload.exp ?? 0) <= now.getTime() / 1000 + lifetimeSeconds + aheadSeconds,
          () => false,
        ),
      ),
  }
}

export const tokenSignerLayer = (master: MasterKey): Layer.Layer<TokenSigner> => Layer.succeed(TokenSigner, tokenSigner(master))
