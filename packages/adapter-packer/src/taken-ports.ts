import { readFile } from "node:fs/promises"

const listening = "0A"
/** Loopback addresses as the kernel's tables show them: what listens there alone does not take the port of other addresses. */
const isLoopback = (address: string): boolean => /^(?:[0-9A-F]{6}7F|0{24}01000000|0{16}FFFF0000[0-9A-F]{6}7F)$/u.test(address)

/** Ports in one of the kernel's tables of TCP connections that have a listener other machines can reach. */
export const portsIn = (table: string): readonly number[] =>
  table
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [, at = "", , state] = line.trim().split(/\s+/u)
      const [address = "", port = ""] = at.split(":")
      return state === listening && !isLoopback(address) ? [Number.parseInt(port, 16)] : []
    })

/** Ports within these bounds that programs of this host listen on: other builds, or the service itself. */
export const takenPorts = async ({
  first,
  last,
}: {
  readonly first: number
  readonly last: number
}): Promise<readonly number[]> => {
  const tables = await Promise.all(["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")))
  return [...new Set(tables.flatMap(portsIn))].filter((port) => first <= port && port <= last)
}
