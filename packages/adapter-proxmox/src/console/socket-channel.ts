import { byteChannel, type ByteChannel } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { WebSocket } from "ws"
import { asTransportFailure, TransportFailure } from "../client/transport.ts"

/** The hypervisor's proxy closes a socket when a frame is longer than 128 KiB or fragmented. */
const longestFrame = 64 * 1024

/** A web socket to the hypervisor as a byte channel, open until the scope is closed. */
export const socketChannel = (connect: () => WebSocket): Effect.Effect<ByteChannel, TransportFailure, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly socket: WebSocket; readonly channel: ByteChannel }, TransportFailure>((resume) => {
        const socket = connect()
        const { channel, arrived, ended } = byteChannel({
          pause: () => socket.pause(),
          resume: () => socket.resume(),
          write: (bytes, written) => {
            for (let at = 0; at < bytes.length; at += longestFrame) {
              const isLast = at + longestFrame >= bytes.length
              socket.send(bytes.subarray(at, at + longestFrame), { binary: true }, isLast ? written : undefined)
            }
          },
        })
        socket.on("message", (data) => arrived(data as Buffer))
        socket.on("close", ended)
        socket.once("open", () => resume(Effect.succeed({ socket, channel })))
        socket.on("error", (error) => resume(Effect.fail(asTransportFailure(error))))
        socket.once("unexpected-response", (request, response) => {
          request.destroy()
          const words = `${response.statusCode ?? 0} ${response.statusMessage ?? ""}`.trim()
          resume(Effect.fail(new TransportFailure(`Proxmox answered ${words}`, false)))
        })
        return Effect.sync(() => socket.terminate())
      }),
      ({ socket }) => Effect.sync(() => socket.terminate()),
      { interruptible: true },
    ),
    ({ channel }) => channel,
  )
