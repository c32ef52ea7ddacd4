import { constants } from "node:fs"
import { open } from "node:fs/promises"
import { connect, type Socket } from "node:net"
import { join } from "node:path"

/** The gate's own socket in the folder of a run that works with machines. */
export const inwardSocket = "inward"

/** The tool may stop the gate, or put a socket in its place that never answers. */
const longestMillis = 5000

/** Opens a file's place without following or reading it: Node.js has no name for Linux's `O_PATH`. */
const placeOnly = 0o10000000

/**
 * Connects to the gate, and says these words. The folder is the tool's to write to: a link there could lead to any socket of this host, so that
 * only what is a socket itself is connected to.
 */
const opened = async (folder: string, words: string): Promise<Socket> => {
  const place = await open(join(folder, inwardSocket), placeOnly | constants.O_NOFOLLOW)
  try {
    if (!(await place.stat()).isSocket()) throw new Error(`${inwardSocket} in ${folder} is not a socket`)
    return await new Promise((resolve, reject) => {
      // paths of sockets have to be short, and that of a data folder need not be
      const socket = connect({ path: `/proc/self/fd/${place.fd}`, allowHalfOpen: true })
      const stop = (error: Error): void => {
        socket.destroy()
        reject(error)
      }
      socket.setTimeout(longestMillis, () => stop(new Error("the gate does not answer")))
      // and from then on: the gate may close it before anybody else listens
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
  // the time of the whole answer: one that comes byte by byte is none
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

/** The ports at which the tool of a run waits for machines; none once it has ended. */
export const portsWithin = async (folder: string): Promise<readonly number[]> =>
  (await answerOf(folder, "ports").catch(() => ""))
    .split(" ")
    .map(Number)
    .filter((port) => Number.isInteger(port) && port > 0 && port < 65_536)

/** Connects to such a port. */
export const connectWithin = (folder: string, port: number): Promise<Socket> => opened(folder, `connect ${port}`)

/** Interrupts the tool of a run and all that it started, as a terminal does. False where it has ended already, or does not listen. */
export const interruptWithin = async (folder: string): Promise<boolean> =>
  (await answerOf(folder, "interrupt").catch(() => "")) === "done"
