import { addressNumber } from "../network/cidr.ts"
import { type RangeState, rangeStates, type TestingState } from "../range/range.ts"
import { shownText } from "../source/shown-text.ts"
import type { LegacyRange } from "./legacy.ts"

const longestShown = 80

/** A text of the old data for one line of output: short, and without control characters for the terminal. */
export const legacyLine = (text: string): string => {
  const line = shownText(text.slice(0, longestShown * 2)).replace(/\s+/gu, " ")
  const letters = [...line]
  return letters.length > longestShown ? `${letters.slice(0, longestShown).join("")}…` : line
}

/** The state that a range gets here. Nobody continues a run that the old service left unfinished. */
export const legacyState = (text: string): RangeState => {
  if (text === "DEPLOYING") return "ABORTED"
  if (text === "DESTROYING") return "ERROR"
  return rangeStates.find((state) => state === text) ?? "NEVER DEPLOYED"
}

/** As the old service stored them: a name, optionally followed by the address that it was pinned to. */
const allowedDomain = /^[A-Za-z0-9*_](?:[A-Za-z0-9._-]{0,252})(?: \(([0-9.]{7,15})\))?$/u
const allowedAtMost = 1000

const isAllowedDomain = (text: string): boolean => {
  const found = allowedDomain.exec(text)
  return found !== null && (found[1] === undefined || addressNumber(found[1]) !== undefined)
}

/**
 * Testing mode as it was, but never `on`: the router has the rules of the old service, and only a new start closes it by today's. Allowed
 * entries end up in firewall rules, so only names and addresses are accepted.
 */
export const legacyTesting = ({
  enabled,
  domains,
  addresses,
}: LegacyRange["testing"]): { readonly testing: TestingState; readonly refused: number } => {
  const allowedDomains = [...new Set(domains)].filter(isAllowedDomain).slice(0, allowedAtMost)
  const allowedIps = [...new Set(addresses)].filter((text) => addressNumber(text) !== undefined).slice(0, allowedAtMost)
  return {
    testing: { mode: enabled ? "entering" : "off", allowedDomains, allowedIps },
    refused: new Set(domains).size + new Set(addresses).size - allowedDomains.length - allowedIps.length,
  }
}
