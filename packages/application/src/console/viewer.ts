import { type ByteChannel, exactly } from "@rangewright/ports"
import * as Effect from "effect/Effect"

const version = new TextEncoder().encode("RFB 003.008\n")
const byPassword = 2
const refused = new TextEncoder().encode("The password is wrong")

/**
 * The server's side of an RFB connection up to the end of its security handshake (RFC 6143, 7.1): admits a viewer that knows the password.
 * Returns the channel from there on; undefined: the viewer disconnected, had the wrong password, or speaks another protocol. `answerOf`:
 * the correct answer to a challenge.
 */
export const admitViewer = (
  viewer: ByteChannel,
  challenge: Uint8Array,
  answerOf: (challenge: Uint8Array) => Uint8Array,
): Effect.Effect<ByteChannel | undefined> =>
  Effect.gen(function* () {
    const { take, rest } = exactly(viewer)
    yield* viewer.send(version)
    const spoken = yield* take(version.length)
    if (spoken === undefined || !/^RFB 003\.00[78]\n$/u.test(new TextDecoder().decode(spoken))) return undefined
    yield* viewer.send(Uint8Array.of(1, byPassword))
    if ((yield* take(1))?.[0] !== byPassword) return undefined
    yield* viewer.send(challenge)
    const answer = yield* take(challenge.length)
    if (answer === undefined) return undefined
    const right = answerOf(challenge)
    // compares all bytes, so that timing reveals nothing
    if (answer.reduce((differs, byte, i) => differs | (byte ^ (right[i] ?? 0)), 0) === 0) {
      yield* viewer.send(Uint8Array.of(0, 0, 0, 0))
      return rest
    }
    yield* viewer.send(Uint8Array.of(0, 0, 0, 1, 0, 0, 0, refused.length, ...refused))
    return undefined
  })
