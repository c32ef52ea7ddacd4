import { isAmong, isDnsName, plainAddress } from "@rangewright/domain"
import { type AskedOver, requestOver } from "@rangewright/host-tools"
import type { NameFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { dialOf, type InternetOptions, usable } from "./options.ts"
import { resolve } from "./resolve.ts"

/** Why a server is not asked: its address may not be connected to, the request makes no sense, or something that may pass. */
export class Unasked extends Error {
  readonly reason: "address" | "request" | "may-pass"
  constructor(because: string, reason: Unasked["reason"] = "request") {
    super(because)
    this.reason = reason
  }
}

/** The only address to connect to, whatever the name resolves to later. */
const addressOf = async (options: InternetOptions, hostname: string): Promise<string> => {
  const literal = plainAddress(hostname.replace(/^\[|\]$/gu, ""))
  if (literal === undefined) {
    if (!isDnsName(hostname)) throw new Unasked(`${hostname} is not the name of a public host`)
    return Effect.runPromise(resolve(options, hostname)).catch((error: NameFault) => {
      const { reason } = error.facts
      throw new Unasked(
        error.message,
        reason === "not-public" ? "address" : reason === "timeout" || reason === "unavailable" ? "may-pass" : "request",
      )
    })
  }
  const [address] = await usable([literal], options)
  if (address === undefined)
    throw new Unasked(`${hostname} is not a public IPv4 address that can be reached from here`, "address")
  return address
}

const unreachable = (error: NodeJS.ErrnoException): never => {
  throw new Unasked(`its server cannot be reached (${error.code ?? error.message})`, "may-pass")
}

/** A connection to the checked address of a host. */
export const connectTo = async (options: InternetOptions, hostname: string, port: number): Promise<Duplex> => {
  const { internet, networks = [] } = options
  const address = await addressOf(options, hostname)
  const isInside = isAmong(
    address,
    networks.map((network) => `${network.address}/${network.length}`),
  )
  if (internet === false && !isInside) throw new Unasked("the service may not use the internet (tool_internet)")
  return dialOf(options)(address, port).catch(unreachable)
}

/** Sends one request on a connection of its own. Its signal closes everything that was opened. */
export const ask = async (options: InternetOptions, url: URL, asked: Omit<AskedOver, "ca">): Promise<IncomingMessage> => {
  const raw = await connectTo(options, url.hostname, url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port))
  const { ca } = options
  return requestOver(raw, url, { ...asked, ...(ca === undefined ? {} : { ca }) }).catch(unreachable)
}
