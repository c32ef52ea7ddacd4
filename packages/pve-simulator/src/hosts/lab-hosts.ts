import { randomBytes } from "node:crypto"
import { labTemplates } from "../core/template-names.ts"
import { hostsObstacle } from "./command.ts"
import { makeRealHosts } from "./hosts.ts"
import type { Link } from "./outside.ts"
import { realGuests, type RealGuests } from "./real-guests.ts"
import type { Account } from "./root-folder.ts"

/** Real hosts for the guests of a simulator of its own, with the networks that labs have around their routers. */
export interface LabHosts {
  readonly guests: RealGuests
  /** In front of a command: it runs where the service of the labs would, with ways to all ranges. */
  readonly outside: readonly string[]
  readonly link: Link
  /** Who may log in to every host, and becomes root with their own password. */
  readonly accounts: readonly Account[]
  /** Ends and removes everything. */
  readonly close: () => Promise<void>
}

const lastRange = 153

/** As in the templates, but for root, whom every host has with a password of its own. */
const accounts = [...new Set(labTemplates.flatMap(({ os }) => (os.family === "linux" ? [os.user] : [])))]
  .filter((name) => name !== "root")
  .map((name) => ({ name, password: name === "localuser" ? "password" : name }))

/** Range N is 10.N.0.0/16, behind a router whose outer address is 192.0.2.(100+N); the service's host is 192.0.2.254 and hands out .50 to .100. */
const networks = {
  outer: { vlan: 1, address: "192.0.2.254/24", leases: ["192.0.2.50", "192.0.2.100"] },
  routes: Array.from({ length: lastRange }, (_, i) => ({ to: `10.${i + 1}.0.0/16`, via: `192.0.2.${101 + i}` })),
} as const

/** Fails with the reason where this machine cannot make hosts. `failed` is told of a guest whose host could not be started or stopped. */
export const openLabHosts = async (failed: (vmid: number, error: unknown) => void): Promise<LabHosts> => {
  const obstacle = await hostsObstacle()
  if (obstacle !== undefined) throw new Error(`real hosts cannot be made here: ${obstacle}`)
  const hosts = await makeRealHosts({ password: randomBytes(16).toString("hex"), accounts, ...networks })
  const guests = realGuests(hosts, failed)
  const close = async (): Promise<void> => {
    // whoever waits for a guest was told of its failure
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
