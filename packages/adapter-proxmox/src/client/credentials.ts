import { HypervisorFault, monotonicMillis } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import { recordOf, text } from "../wire/read.ts"
import { classifyAnswer } from "./classify.ts"
import type { Exchange } from "./exchange.ts"
import { encodeForm } from "./form.ts"
import { readReply, refusalText } from "./reply.ts"
import type { PveMethod } from "./transport.ts"

/**
 * How the service authenticates. A token is preferred: it needs no renewal and can have exactly the rights that are needed. What reading a
 * secret from a file leaves around it is ignored (`usableAuth`).
 */
export type PveAuth =
  /** `id` is `user@realm!name`. */
  | { readonly type: "token"; readonly id: string; readonly secret: Redacted.Redacted }
  /** `username` is `user@realm`. */
  | { readonly type: "password"; readonly username: string; readonly password: Redacted.Redacted }

/** The account that the service acts as, and whether it uses an API token, which cannot set passwords. */
export interface ServiceAccount {
  readonly id: string
  readonly byToken: boolean
}

export const serviceAccountOf = (auth: PveAuth): ServiceAccount =>
  auth.type === "token"
    ? { id: auth.id.slice(0, Math.max(auth.id.lastIndexOf("!"), 0)), byToken: true }
    : { id: auth.username, byToken: false }

type Headers = Readonly<Record<string, string>>

export interface Credentials {
  readonly headers: (method: PveMethod) => Effect.Effect<Headers, HypervisorFault>
  /** After a 401: true when new credentials were obtained and the request, which was rejected unread, may be sent again. */
  readonly renew: (refused: Headers) => Effect.Effect<boolean, HypervisorFault>
}

const tokenCredentials = (id: string, secret: Redacted.Redacted): Credentials => ({
  headers: () => Effect.succeed({ authorization: `PVEAPIToken=${id}=${Redacted.value(secret)}` }),
  renew: () => Effect.succeed(false),
})

interface Ticket {
  readonly ticket: string
  readonly csrf: string
  readonly issuedAt: number
}

/** Tickets are valid for 2 h; they are renewed early enough that none expires during a request. */
const renewAfterMs = 90 * 60_000
const lifeMs = 115 * 60_000

/** What a header can carry. */
const isPlain = (text: string | undefined): text is string => text !== undefined && /^[!-~]+$/u.test(text)

const ticketHeaders = (ticket: Ticket, method: PveMethod): Headers => ({
  cookie: `PVEAuthCookie=${encodeURIComponent(ticket.ticket)}`,
  ...(method === "GET" ? {} : { csrfpreventiontoken: ticket.csrf }),
})

const ticketCredentials = (username: string, password: Redacted.Redacted, exchange: Exchange): Credentials => {
  /** One login at a time: all other requests wait for its ticket. */
  const gate = Semaphore.makeUnsafe(1)
  let current: Ticket | undefined
  const fault = (reason: "away" | "unauthenticated" | "failed", detail: string) =>
    new HypervisorFault({ doing: `log in as ${username}`, reason, detail })
  const login = Effect.fnUntraced(function* (secret: string): Effect.fn.Return<Ticket, HypervisorFault> {
    const answer = yield* exchange
      .send(
        {
          method: "POST",
          path: "/api2/json/access/ticket",
          headers: { "content-type": "application/x-www-form-urlencoded" },
          body: encodeForm({ username, password: secret }),
          timeoutMs: 30_000,
        },
        "quick",
      )
      .pipe(Effect.mapError((failure) => fault("away", failure.message)))
    if (answer.status !== 200) {
      const words = refusalText(answer.statusText, answer.body)
      const { verdict } = classifyAnswer({ status: answer.status, text: words, call: "POST /access/ticket", mutating: false })
      return yield* fault(verdict === "away" || verdict === "unauthenticated" ? verdict : "failed", words)
    }
    const reply = readReply(answer.body)
    if (Result.isFailure(reply)) {
      exchange.deprioritise(answer)
      return yield* fault("away", reply.failure)
    }
    const data = recordOf(reply.success.data)
    const [ticket, csrf] = [text(data, "ticket"), text(data, "CSRFPreventionToken")]
    if (!isPlain(ticket) || !isPlain(csrf))
      return yield* fault("failed", "the answer contains no ticket (the account may require a second factor)")
    return { ticket, csrf, issuedAt: yield* monotonicMillis }
  })
  const fresh = Effect.gen(function* () {
    const now = yield* monotonicMillis
    if (current !== undefined && now - current.issuedAt < renewAfterMs) return current
    // a ticket that is still valid serves as the password; when it is refused, the real password decides
    const renewed =
      current !== undefined && now - current.issuedAt < lifeMs ? yield* Effect.result(login(current.ticket)) : undefined
    current = renewed?._tag === "Success" ? renewed.success : yield* login(Redacted.value(password))
    return current
  })
  const ticket = gate.withPermit(fresh)
  return {
    headers: (method) => Effect.map(ticket, (held) => ticketHeaders(held, method)),
    renew: (refused) =>
      gate.withPermit(
        Effect.gen(function* () {
          if (current !== undefined && refused["cookie"] === ticketHeaders(current, "GET")["cookie"]) {
            current = undefined
            yield* fresh
          }
          return true
        }),
      ),
  }
}

export const makeCredentials = (auth: PveAuth, exchange: Exchange): Credentials =>
  auth.type === "token" ? tokenCredentials(auth.id, auth.secret) : ticketCredentials(auth.username, auth.password, exchange)
