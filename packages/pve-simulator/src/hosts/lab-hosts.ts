import { randomBytes } from "node:crypto"
import { labTemplates } from "../core/template-names.ts"
import { hostsObstacle } from "./command.ts"
import { makeRealHosts } from "./hosts.ts"
import type { Link } from "./outside.ts"
import { realGuests, type RealGuests } from "./real-guests.ts"
import type { Account } from "./root-folder.ts"

/** Real hosts for the guests of one simulator, with the networks that labs have around their routers. */
export interface LabHosts {
  readonly guests: RealGuests
  /** Prefix that runs a command in the place of the labs' service, with routes to all ranges. */
  readonly outside: readonly string[]
  readonly link: Link
  /** Accounts on every host, which become root with their own password. */
  readonly accounts: readonly Account[]
  /** Ends and removes everything. */
  readonly close: () => Promise<void>
}

const lastRange = 153

/** As in the templates, except for root, who exists on every host with another password. */
const accounts = [...new Set(labTemplates.flatMap(({ os }) => (os.family === "linux" ? [os.user] : [])))]
  .filter((name) => name !== "root")
  .map((name) => ({ name, password: name === "localuser" ? "password" : name }))

/**
 * Range N is 10.N.0.0/16, behind a router whose outer address is 192.0.2.(100+N); the service's host is 192.0.2.254 and hands out .50 to
 * .100.
 */
const networks = {
  outer: { vlan: 1, address: "192.0.2.254/24", leases: ["192.0.2.50", "192.0.2.100"] },
  routes: Array.from({ length: lastRange }, (_, i) => ({ to: `10.${i + 1}.0.0/16`, via: `192.0.2.${101 + i}` })),
} as const

/** Fails with the reason if this machine cannot run hosts. Calls `failed` for a guest whose host could not be started or stopped. */
export const openLabHosts = async (failed: (vmid: number, error: unknown) => void): Promise<LabHosts> => {
  const obstacle = await hostsObstacle()
  if (obstacle !== undefined) throw new Error(`real hosts cannot be made here: ${obstacle}`)
  const hosts = await makeRealHosts({ password: randomBytes(16).toString("hex"), accounts, ...networks })
  const guests = realGuests(hosts, failed)
  const close = async (): Promise<void> => {
    // callers that wait for a guest get its failure
    await guests.settled().catch(() => {})
    await hosts.remove()
  }
  try {
    return { guests, outside: hosts.outside, link: await hosts.link(), accounts, close }
  } catch (error) {
    await close()
    throw error
  }
}
