import { isDnsName } from "@rangewright/domain"
import { NameFault, type NameReason } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { Resolver } from "node:dns/promises"
import { type InternetOptions, timeoutOf, usable } from "./options.ts"

const byNameServers = (name: string, signal: AbortSignal): Promise<readonly string[]> => {
  // a separate resolver: cancelling ends all its queries
  const resolver = new Resolver({ timeout: 2000, tries: 2 })
  signal.addEventListener("abort", () => resolver.cancel(), { once: true })
  return resolver.resolve4(name)
}

const reasons: Readonly<Record<string, readonly [NameReason, string]>> = {
  ENOTFOUND: ["not-found", "there is no such name"],
  ENODATA: ["not-found", "it has no IPv4 address"],
  ETIMEOUT: ["timeout", "the name servers did not answer in time"],
}

const asFault = (name: string, code: string): NameFault => {
  const [reason, detail] = reasons[code] ?? ["unavailable", `the name servers cannot resolve it (${code})`]
  return new NameFault({ name, reason, detail })
}

export const resolve = (options: InternetOptions, name: string): Effect.Effect<string, NameFault> => {
  const { resolve4 = byNameServers } = options
  return Effect.tryPromise({
    try: async (signal) => {
      if (!isDnsName(name))
        throw new NameFault({ name, reason: "invalid", detail: "it is not a full DNS name, such as www.example.org" })
      const found = await resolve4(name, signal)
      if (found.length === 0) throw asFault(name, "ENODATA")
      const [first] = await usable(found, options)
      if (first === undefined) throw new NameFault({ name, reason: "not-public", detail: "none of its addresses is public" })
      return first
    },
    catch: (cause) =>
      cause instanceof NameFault
        ? cause
        : asFault(name, cause instanceof Error && "code" in cause ? String(cause.code) : String(cause)),
  }).pipe(Effect.timeoutOrElse({ duration: timeoutOf(options), orElse: () => Effect.fail(asFault(name, "ETIMEOUT")) }))
}
