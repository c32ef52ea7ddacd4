import { type HttpApp, listen, type Listener, type ListenOptions } from "@rangewright/adapter-http"

/** A port cannot be listened on. */
export class PortError extends Error {
  /** Another program has it. */
  readonly taken: boolean
  constructor(message: string, taken: boolean, cause: unknown) {
    super(message, { cause })
    this.taken = taken
  }
}

const reasons = new Map([
  ["EADDRINUSE", "another program listens there. Stop it, or choose another port"],
  ["EACCES", "ports below 1024 need privileges. Choose another port"],
  ["EADDRNOTAVAIL", "this machine has no such address. Choose another host"],
])

/** Listens, or fails with one line that names the key which chose the port. */
export const openPort = async (key: "port" | "admin_port", app: HttpApp, options: ListenOptions): Promise<Listener> => {
  try {
    return await listen(app, options)
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException
    const why = reasons.get(code)
    throw new PortError(
      `Cannot listen on ${options.host} port ${options.port}: ${why === undefined ? message : `${why} (${key})`}.`,
      code === "EADDRINUSE",
      error,
    )
  }
}
