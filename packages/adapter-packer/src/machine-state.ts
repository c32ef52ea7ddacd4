import { readFile } from "node:fs/promises"
import { isRow } from "./account-calls.ts"

/** What can be seen of a machine from outside. */
export interface MachineState {
  /** The hypervisor's term: `running`, `stopped`, `paused`. */
  readonly power: string
  /** Addresses from which its network cards have contacted this host. */
  readonly addresses: readonly string[]
}

/** Requests a path below `/nodes/…/qemu/…`, with the rights of the build. */
type Ask = (path: string) => Promise<unknown>

const macIn = /(?:^|[=,])(?<mac>(?:[0-9a-f]{2}:){5}[0-9a-f]{2})(?:,|$)/iu

const cardsIn = (config: unknown): readonly string[] =>
  Object.entries(isRow(config) ? config : {}).flatMap(([key, value]) => {
    const mac = /^net\d+$/u.test(key) ? macIn.exec(String(value))?.groups?.["mac"] : undefined
    return mac === undefined ? [] : [mac.toLowerCase()]
  })

/** The host's ARP neighbours by hardware address. A machine that got an address resolves this host's, or is resolved by it. */
export const neighboursIn = (table: string): readonly { readonly mac: string; readonly address: string }[] =>
  table
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [address = "", , flags = "", mac = ""] = line.trim().split(/\s+/u)
      // without the second bit the entry is an unanswered request
      return (Number(flags) & 2) === 0 ? [] : [{ mac: mac.toLowerCase(), address }]
    })

/** Checks a machine that does not answer; undefined when nothing can be determined. */
export const lookAtMachine = async (
  ask: Ask,
  neighbours: () => Promise<string> = () => readFile("/proc/net/arp", "utf8"),
): Promise<MachineState | undefined> => {
  try {
    const [status, config, table] = await Promise.all([ask("/status/current"), ask("/config"), neighbours().catch(() => "")])
    if (!isRow(status)) return undefined
    const power = status["qmpstatus"] ?? status["status"]
    const cards = cardsIn(config)
    const seen = neighboursIn(table).filter(({ mac }) => cards.includes(mac))
    return {
      power: typeof power === "string" && /^[a-z-]{1,30}$/u.test(power) ? power : "in an unknown state",
      addresses: seen.map(({ address }) => address).slice(0, 4),
    }
  } catch {
    return undefined
  }
}
