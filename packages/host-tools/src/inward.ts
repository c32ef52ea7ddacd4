import { open } from "node:fs/promises"
import { connect, type Socket } from "node:net"

/** The gate's own socket in the folder of a run that works with machines. */
export const inwardSocket = "inward"

const opened = async (folder: string, words: string): Promise<Socket> => {
  // paths of sockets have to be short, and that of a data folder need not be
  const place = await open(folder)
  try {
    return await new Promise((resolve, reject) => {
      const socket = connect({ path: `/proc/self/fd/${place.fd}/${inwardSocket}`, allowHalfOpen: true })
      socket.once("error", reject)
      socket.once("connect", () => {
        socket.off("error", reject)
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
  socket.end()
  let text = ""
  for await (const chunk of socket.setEncoding("latin1") as AsyncIterable<string>) {
    text += chunk
    if (text.length > 64 * 1024) break
  }
  socket.destroy()
  return text
}

/** The ports at which the tool of a run waits for machines; none once it has ended. */
export const portsWithin = async (folder: string): Promise<readonly number[]> =>
  (await answerOf(folder, "ports").catch(() => ""))
    .split(" ")
    .map(Number)
    .filter((port) => Number.isInteger(port) && port > 0 && port < 65_536)

/** Connects to such a port. */
export const connectWithin = (folder: string, port: number): Promise<Socket> => opened(folder, `connect ${port}`)

/** Interrupts the tool of a run and all that it started, as a terminal does. False where it has ended already. */
export const interruptWithin = async (folder: string): Promise<boolean> =>
  (await answerOf(folder, "interrupt").catch(() => "")) === "done"
