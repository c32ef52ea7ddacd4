import { type HttpApp, listen, type Listener, type ListenOptions } from "@rangewright/adapter-http"

/** The service cannot listen on a port. */
export class PortError extends Error {
  /** Whether another program uses it. */
  readonly taken: boolean
  /** `key`: the setting that chose the port, as the person who set it knows it. */
  constructor({ host, port }: Pick<ListenOptions, "host" | "port">, key: string, cause: NodeJS.ErrnoException) {
    super(`Cannot listen on ${host} port ${port}: ${reasonOf(key, cause)}.`, { cause })
    this.taken = cause.code === "EADDRINUSE"
  }
}

/** Why an address cannot be listened on, for people; codes that are missing here are reported with the system's own message. */
export const hostReasons: ReadonlyMap<string, string> = new Map([
  ["EADDRNOTAVAIL", "this machine has no such address"],
  ["ENOTFOUND", "this host name has no address"],
  ["EAI_AGAIN", "this host name cannot be resolved now"],
])
const portReasons: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "another program listens there. Stop it, or choose another port"],
  ["EACCES", "ports below 1024 need privileges. Choose another port"],
])

/** Hint for a host that cannot be listened on. */
export const chooseHost = "Choose an address of this machine, such as 127.0.0.1, or 0.0.0.0 for all of them (host)"

const reasonOf = (key: string, { code = "", message }: NodeJS.ErrnoException): string => {
  const [ofHost, ofPort] = [hostReasons.get(code), portReasons.get(code)]
  if (ofHost !== undefined) return `${ofHost}. ${chooseHost}`
  return ofPort === undefined ? message : `${ofPort} (${key})`
}

/** Listens, or fails with one line that names the key which chose the port. */
export const openPort = async (key: "port" | "admin_port", app: HttpApp, options: ListenOptions): Promise<Listener> => {
  try {
    return await listen(app, options)
  } catch (error) {
    throw new PortError(options, key, error as NodeJS.ErrnoException)
  }
}
