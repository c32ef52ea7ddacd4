import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { License } from "./license.ts"
import { dateOf, Entitlement, lineOf, readJsonText, UnixSeconds } from "./read-json.ts"
import { listed } from "../text.ts"
import { entitlementsOf, type Tier, tiers } from "./tier.ts"

/** The content of a signed license. */
export interface LicenseTerms {
  readonly tier: Tier
  /** Entitlements beyond those of the tier, such as an organization's own for its roles. */
  readonly entitlements: readonly string[]
  readonly licensedTo: string
  readonly issuedAt: Date
  /** The moment from which it is no longer valid; undefined if it does not expire. */
  readonly expiresAt: Date | undefined
  /** Names of the hosts it is for, in lower case; empty: any host. */
  readonly hosts: readonly string[]
}

const WireTerms = Schema.Struct({
  tier: Schema.Literals(tiers),
  entitlements: Schema.optionalKey(Schema.Array(Entitlement).check(Schema.isMaxLength(100))),
  licensed_to: lineOf(200),
  issued_unix: UnixSeconds,
  expires_unix: Schema.optionalKey(UnixSeconds),
  hosts: Schema.optionalKey(Schema.Array(lineOf(253)).check(Schema.isMaxLength(1000))),
})

const lower = (texts: readonly string[]): readonly string[] => texts.map((text) => text.toLowerCase())

/** Parses the text of a license; fails with the problem. */
export const readLicenseTerms = (text: string): Result.Result<LicenseTerms, string> =>
  Result.map(readJsonText(WireTerms, text), (wire) => ({
    tier: wire.tier,
    entitlements: wire.entitlements ?? [],
    licensedTo: wire.licensed_to,
    issuedAt: dateOf(wire.issued_unix),
    expiresAt: wire.expires_unix === undefined ? undefined : dateOf(wire.expires_unix),
    hosts: lower(wire.hosts ?? []),
  }))

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000)

/** Writes the text of a license; reading it gives the same terms. */
export const writeLicenseTerms = (terms: LicenseTerms): string =>
  JSON.stringify({
    tier: terms.tier,
    ...(terms.entitlements.length === 0 ? {} : { entitlements: terms.entitlements }),
    licensed_to: terms.licensedTo,
    issued_unix: seconds(terms.issuedAt),
    ...(terms.expiresAt === undefined ? {} : { expires_unix: seconds(terms.expiresAt) }),
    ...(terms.hosts.length === 0 ? {} : { hosts: lower(terms.hosts) }),
  } satisfies typeof WireTerms.Type)

/** The validity of a license. */
export type LicenseState =
  | { readonly state: "valid" }
  | { readonly state: "expired"; readonly at: Date }
  /** The clock is earlier than a time it has shown before, or than the license's time of issue. */
  | { readonly state: "clock-set-back"; readonly was: Date }
  | { readonly state: "other-host" }

/** Tolerance for a clock that goes back: clocks of hosts differ, and are corrected. */
export const clockToleranceMs = 60 * 60 * 1000

/**
 * Checks a license against the current time, the latest time ever seen, and the names of this host. The host is checked first, and the
 * clock's trustworthiness before expiry.
 */
export const judgeLicense = (
  terms: LicenseTerms,
  known: { readonly now: Date; readonly seenUntil: Date | undefined; readonly hosts: readonly string[] },
): LicenseState => {
  const here = lower(known.hosts)
  if (terms.hosts.length > 0 && !terms.hosts.some((host) => here.includes(host.toLowerCase()))) return { state: "other-host" }
  const was = new Date(Math.max(terms.issuedAt.getTime(), known.seenUntil?.getTime() ?? 0))
  if (known.now.getTime() + clockToleranceMs < was.getTime()) return { state: "clock-set-back", was }
  // a license that was seen as expired stays expired, even within the tolerance
  const latest = Math.max(known.now.getTime(), known.seenUntil?.getTime() ?? 0)
  if (terms.expiresAt !== undefined && latest >= terms.expiresAt.getTime()) return { state: "expired", at: terms.expiresAt }
  return { state: "valid" }
}

const day = (at: Date): string => at.toISOString().slice(0, 10)

const mostHostsShown = 3

const otherHosts = ({ hosts }: LicenseTerms): string =>
  `${hosts.length === 1 ? "another host" : "other hosts"}, ${listed(hosts, mostHostsShown)}`

const messageOf = (terms: LicenseTerms, state: LicenseState): string => {
  switch (state.state) {
    case "valid":
      return `${terms.tier} licence`
    case "expired":
      return `the ${terms.tier} licence expired on ${day(state.at)}: renew it`
    case "clock-set-back":
      return `the ${terms.tier} licence is not in force: this host's clock was set back (it must be past ${state.was.toISOString()}): set the clock`
    case "other-host":
      return `the ${terms.tier} licence is not in force: it is for ${otherHosts(terms)}: request one for this host`
  }
}

/** The license as shown and queried; an invalid one includes nothing. */
export const licenseOf = (terms: LicenseTerms, state: LicenseState): License => ({
  entitlements: state.state === "valid" ? [...new Set([...entitlementsOf(terms.tier), ...terms.entitlements])] : [],
  licensedTo: terms.licensedTo,
  active: state.state === "valid",
  message: messageOf(terms, state),
  expiresAt: terms.expiresAt,
})

/** The license in force if the configured one cannot be read or trusted. */
export const unusableLicense = (because: string): License => ({
  entitlements: [],
  licensedTo: "",
  active: false,
  message: `no licence is in force: ${because}`,
  expiresAt: undefined,
})
