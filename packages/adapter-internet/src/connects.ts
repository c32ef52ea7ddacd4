import * as Effect from "effect/Effect"
import { connect } from "node:net"

const patienceMillis = 5000

/** Why a host cannot be connected to; undefined when it can. Sends nothing and closes the connection at once. */
export const connects = (host: string, port: number): Effect.Effect<string | undefined> =>
  Effect.callback<string | undefined>((resume) => {
    const socket = connect({ host, port, timeout: patienceMillis })
    const end = (because: string | undefined) => {
      socket.destroy()
      resume(Effect.succeed(because))
    }
    // stays attached until the end: a destroyed socket may still emit errors
    socket.on("error", (error) => end(error.message))
    socket.once("timeout", () => end(`it did not answer within ${patienceMillis / 1000} s`))
    socket.once("connect", () => end(undefined))
    return Effect.sync(() => socket.destroy())
  })
