import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { License } from "./license.ts"
import { dateOf, Entitlement, lineOf, readJsonText, UnixSeconds } from "./read-json.ts"
import { listed } from "../text.ts"
import { entitlementsOf, type Tier, tiers } from "./tier.ts"

/** What a signed licence says. */
export interface LicenseTerms {
  readonly tier: Tier
  /** Names beyond those of the tier, such as an organisation gives to roles of its own. */
  readonly entitlements: readonly string[]
  readonly licensedTo: string
  readonly issuedAt: Date
  /** The first moment at which it is not valid any more; undefined: it does not expire. */
  readonly expiresAt: Date | undefined
  /** Names of the hosts it is for, in lower case; none: any host. */
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

/** Reads the text of a licence, or says what is wrong with it. */
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

/** The text of a licence; reading it gives the same terms. */
export const writeLicenseTerms = (terms: LicenseTerms): string =>
  JSON.stringify({
    tier: terms.tier,
    ...(terms.entitlements.length === 0 ? {} : { entitlements: terms.entitlements }),
    licensed_to: terms.licensedTo,
    issued_unix: seconds(terms.issuedAt),
    ...(terms.expiresAt === undefined ? {} : { expires_unix: seconds(terms.expiresAt) }),
    ...(terms.hosts.length === 0 ? {} : { hosts: lower(terms.hosts) }),
  } satisfies typeof WireTerms.Type)

/** How a licence stands. */
export type LicenseState =
  | { readonly state: "valid" }
  | { readonly state: "expired"; readonly at: Date }
  /** The clock shows an earlier time than one that it has shown, or that the licence was issued at. */
  | { readonly state: "clock-set-back"; readonly was: Date }
  | { readonly state: "other-host" }

/** A clock may be this much behind without being suspect: clocks of hosts differ, and are set right. */
export const clockToleranceMs = 60 * 60 * 1000

/**
 * Judges a licence by what is known here: the time, the latest time ever seen, and the names of this host. Which host it is comes first,
 * and a clock that cannot be trusted before what it says.
 */
export const judgeLicense = (
  terms: LicenseTerms,
  known: { readonly now: Date; readonly seenUntil: Date | undefined; readonly hosts: readonly string[] },
): LicenseState => {
  const here = lower(known.hosts)
  if (terms.hosts.length > 0 && !terms.hosts.some((host) => here.includes(host.toLowerCase()))) return { state: "other-host" }
  const was = new Date(Math.max(terms.issuedAt.getTime(), known.seenUntil?.getTime() ?? 0))
  if (known.now.getTime() + clockToleranceMs < was.getTime()) return { state: "clock-set-back", was }
  // what was seen to be over stays over, also within the tolerance
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
      return `the ${terms.tier} licence is not in force: it is for ${otherHosts(terms)}: have one issued for this one`
  }
}

/** The licence as it is shown and asked; one that is not valid includes nothing. */
export const licenseOf = (terms: LicenseTerms, state: LicenseState): License => ({
  entitlements: state.state === "valid" ? [...new Set([...entitlementsOf(terms.tier), ...terms.entitlements])] : [],
  licensedTo: terms.licensedTo,
  active: state.state === "valid",
  message: messageOf(terms, state),
  expiresAt: terms.expiresAt,
})

/** What is in force where a licence was meant but cannot be read or trusted. */
export const unusableLicense = (because: string): License => ({
  entitlements: [],
  licensedTo: "",
  active: false,
  message: `no licence is in force: ${because}`,
  expiresAt: undefined,
})
