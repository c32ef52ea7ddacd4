import { type ByteChannel, exactly, type VncAnswer } from "@rangewright/ports"
import * as Effect from "effect/Effect"

const none = 1
const byPassword = 2
const version = new TextEncoder().encode("RFB 003.008\n")
/** More security types than any server has, and the longest reason that is read. */
const longest = 1_000

/** Reads why the server refused, in its own words. */
const readReason = (take: (count: number) => Effect.Effect<Uint8Array | undefined>) =>
  Effect.gen(function* () {
    const head = yield* take(4)
    const length = head === undefined ? 0 : new DataView(head.buffer, head.byteOffset).getUint32(0)
    const reason = yield* take(Math.min(length, longest))
    return reason === undefined || reason.length === 0
      ? "it gave no reason"
      : Buffer.from(reason)
          .toString("utf8")
          .replace(/\p{Cc}+/gu, " ")
  })

/**
 * The client side of an RFB handshake up to the end of security (RFC 6143, 7.1); returns the channel from there on. Fails with a
 * description of what went wrong.
 */
export const pastSecurity = (channel: ByteChannel, password: string, answer: VncAnswer): Effect.Effect<ByteChannel, string> =>
  Effect.gen(function* () {
    const { take, rest } = exactly(channel)
    const need = (count: number, what: string) =>
      Effect.flatMap(take(count), (bytes) =>
        bytes === undefined ? Effect.fail(`its console closed before ${what}`) : Effect.succeed(bytes),
      )
    const greeting = Buffer.from(yield* need(12, "it showed anything")).toString("latin1")
    if (!/^RFB 003\.00[78]\n$/u.test(greeting)) return yield* Effect.fail("its console does not speak RFB 3.8")
    yield* channel.send(version)
    const [count = 0] = yield* need(1, "it said how to log in")
    if (count === 0) return yield* Effect.fail(`its console refuses all logins: ${yield* readReason(take)}`)
    const types = yield* need(count, "it said how to log in")
    const type = [byPassword, none].find((one) => types.includes(one))
    if (type === undefined) return yield* Effect.fail(`its console requires an unknown kind of login (${[...types].join(", ")})`)
    yield* channel.send(Uint8Array.of(type))
    if (type === byPassword) yield* channel.send(answer(password, yield* need(16, "it asked for the password")))
    const result = yield* need(4, "it answered the password")
    if (result.some((byte) => byte !== 0))
      return yield* Effect.fail(`its console refused the password: ${yield* readReason(take)}`)
    return rest
  })
