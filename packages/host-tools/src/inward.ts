import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { join } from "node:path"

/** Name of the gate's own socket in the folder of a run that works with machines. */
export const inwardSocket = "inward"

/** Time limit: the tool may stop the gate, or replace its socket with one that never answers. */
const longestMillis = 5000

/** Opens a path without following or reading it: Node.js has no constant for Linux's `O_PATH`. */
const placeOnly = 0o10000000

/**
 * Connects to the gate and sends these words. The tool can write to the folder, and a symbolic link there could lead to any socket of this
 * host, so only a file that is itself a socket is connected to.
 */
const opened = async (folder: string, words: string): Promise<Socket> => {
  const place = await open(join(folder, inwardSocket), placeOnly | constants.O_NOFOLLOW)
  try {
    if (!(await place.stat()).isSocket()) throw new Error(`${inwardSocket} in ${folder} is not a socket`)
    return await new Promise((resolve, reject) => {
      // socket paths are limited in length, and the path of a data folder may be longer
      const socket = connect({ path: `/proc/self/fd/${place.fd}`, allowHalfOpen: true })
      const stop = (error: Error): void => {
        socket.destroy()
        reject(error)
      }
      socket.setTimeout(longestMillis, () => stop(new Error("the gate does not answer")))
      // stays attached: the gate may close the socket before the caller listens
      socket.on("error", stop)
      socket.once("connect", () => {
        socket.setTimeout(0)
        socket.removeAllListeners("timeout")
        socket.write(`${words}\n`)
        resolve(socket)
      })
    })
  } finally {
    await place.close()
  }
}

const answerOf = async (folder: string, words: string): Promise<string> => {
  const socket = await opened(folder, words)
  // limits the time for the whole answer, so that one trickling in byte by byte fails too
  const late = setTimeout(() => socket.destroy(new Error("the gate does not answer")), longestMillis)
  try {
    socket.end()
    let text = ""
    for await (const chunk of socket.setEncoding("latin1") as AsyncIterable<string>) {
      text += chunk
      if (text.length > 64 * 1024) break
    }
    return text
  } finally {
    clearTimeout(late)
    socket.destroy()
  }
}

/** The ports that a run's tool listens on for machines; empty once it has ended. */
export const portsWithin = async (folder: string): Promise<readonly number[]> =>
  (await answerOf(folder, "ports").catch(() => ""))
    .split(" ")
    .map(Number)
    .filter((port) => Number.isInteger(port) && port > 0 && port < 65_536)

/** Connects to one of those ports. */
export const connectWithin = (folder: string, port: number): Promise<Socket> => opened(folder, `connect ${port}`)

/** Interrupts a run's tool and everything it started, as Ctrl-C in a terminal does. False when it has already ended or does not respond. */
export const interruptWithin = async (folder: string): Promise<boolean> =>
  (await answerOf(folder, "interrupt").catch(() => "")) === "done"
