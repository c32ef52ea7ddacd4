import { judgeLicense, type License, licenseOf, readLicenseTerms, unusableLicense } from "@rangewright/domain"
import { LicenseProvider, type SubscriptionFault } from "@rangewright/ports"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { constants } from "node:fs"
import { open as openFile } from "node:fs/promises"
import { asFault, fault } from "../faults.ts"
import { open } from "../trust/envelope.ts"
import { parsePublicKey, type PublicKey } from "../trust/keys.ts"
import { type ClockMark, clockMark } from "./clock-mark.ts"

/** A licence file, verified offline. */
export interface SignedLicenseOptions {
  /** As written by `subscription license`. It may be replaced while the service runs. */
  readonly file: string
  /** Public keys of trusted issuers, `ed25519:…`. */
  readonly keys: readonly string[]
  /** Names of this host and instance: a licence that is bound to hosts must name one of them. */
  readonly hosts: readonly string[]
  /** The service's own folder for the latest time seen. */
  readonly state: string
}

const doing = "read the licence"
const mostBytes = 256 * 1024

const readText = async (path: string): Promise<string> => {
  const file = await openFile(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stat = await file.stat()
    if (!stat.isFile() || stat.size > mostBytes) throw fault(doing, "broken", "it is not a licence file")
    return await file.readFile("utf8")
  } finally {
    await file.close()
  }
}

const judge = (text: string, keys: readonly PublicKey[], hosts: readonly string[], mark: ClockMark): Effect.Effect<License> =>
  Effect.gen(function* () {
    const opened = open(text, "application/vnd.rangewright.license+json", keys)
    if (Result.isFailure(opened)) return unusableLicense(`the licence file: ${opened.failure.detail}`)
    const terms = readLicenseTerms(opened.success)
    if (Result.isFailure(terms)) return unusableLicense(`the licence file is not valid: ${terms.failure}`)
    const now = new Date(yield* Clock.currentTimeMillis)
    return licenseOf(terms.success, judgeLicense(terms.success, { now, seenUntil: yield* mark.see(text, now), hosts }))
  })

/**
 * The licence in a signed file. One that cannot be read or trusted, has expired, is for another host, or meets a clock that was set back,
 * includes nothing and says why; the service then runs as a community instance. Fails only for an invalid key.
 */
export const signedLicenseLayer = (options: SignedLicenseOptions): Layer.Layer<LicenseProvider, SubscriptionFault> =>
  Layer.effect(
    LicenseProvider,
    Effect.gen(function* () {
      const keys = options.keys.map(parsePublicKey).filter((key) => key !== undefined)
      if (keys.length !== options.keys.length || keys.length === 0)
        return yield* fault(
          "use the licence",
          "unavailable",
          "its keys are not ed25519: and 32 bytes as base64",
          "Set the issuer's public keys.",
        )
      const mark = clockMark(options.state)
      const current = Effect.tryPromise({ try: () => readText(options.file), catch: asFault(doing) }).pipe(
        Effect.flatMap((text) => judge(text, keys, options.hosts, mark)),
        Effect.catch(({ facts }) => Effect.succeed(unusableLicense(`the licence file cannot be read (${facts.detail})`))),
      )
      return LicenseProvider.of({ current })
    }),
  )
