import { X509Certificate } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import { filesIn } from "../compose/data-folder.ts"
import type { Config } from "../config/config.ts"
import { fail, type Finding, ok, warn } from "./finding.ts"

/** Certificates that are valid for three months are usually renewed a month before the end: this close to it, renewal has failed. */
const nearDays = 14
const dayMillis = 86_400_000

/** How long the service's certificate remains valid; no finding when the service will generate its own at the first start. */
export const checkCertificate = (config: Pick<Config, "data" | "tlsCert">, now: Date): readonly Finding[] => {
  const what = "certificate"
  const own = filesIn(config.data).certificateFile
  const path = config.tlsCert ?? own
  if (config.tlsCert === undefined && !existsSync(own)) return []
  const renew =
    config.tlsCert === undefined
      ? `Remove ${own}, and restart the service, which then creates a new one: clients that have pinned it need the new fingerprint.`
      : "Renew it, and restart the service, which reads it at startup."
  try {
    const until = new X509Certificate(readFileSync(path)).validToDate
    const day = until.toISOString().slice(0, 10)
    if (until <= now) return [fail(what, `${path} expired on ${day}`, renew)]
    return [
      until.getTime() - now.getTime() < nearDays * dayMillis
        ? warn(what, `${path} expires on ${day}`, renew)
        : ok(what, `${path} is valid until ${day}`),
    ]
  } catch (error) {
    return [fail(what, `${path} cannot be used: ${error instanceof Error ? error.message : String(error)}`, renew)]
  }
}
