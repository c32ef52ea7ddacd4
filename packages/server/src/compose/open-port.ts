import { type HttpApp, listen, type Listener, type ListenOptions } from "@rangewright/adapter-http"

/** A port cannot be listened on. */
export class PortError extends Error {
  /** Another program has it. */
  readonly taken: boolean
  /** `key`: what chose the port, as the person who chose it knows it. */
  constructor({ host, port }: Pick<ListenOptions, "host" | "port">, key: string, cause: NodeJS.ErrnoException) {
    super(`Cannot listen on ${host} port ${port}: ${reasonOf(key, cause)}.`, { cause })
    this.taken = cause.code === "EADDRINUSE"
  }
}

/** Why an address cannot be listened on, and which setting to change; undefined: the system's own words have to do. */
export const hostReasons: ReadonlyMap<string, string> = new Map([
  ["EADDRNOTAVAIL", "this machine has no such address"],
  ["ENOTFOUND", "this host name has no address"],
  ["EAI_AGAIN", "this host name cannot be resolved now"],
])
const portReasons: ReadonlyMap<string, string> = new Map([
  ["EADDRINUSE", "another program listens there. Stop it, or choose another port"],
  ["EACCES", "ports below 1024 need privileges. Choose another port"],
])

/** What to do about a host that cannot be listened on. */
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
