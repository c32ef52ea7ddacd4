import type { UserId } from "./ids.ts"

/** A person as known to the identity provider. Neither field is secret. */
export interface Person {
  /** URL of the provider. */
  readonly issuer: string
  /** The provider's unique identifier for the person. */
  readonly subject: string
}

/** A person who signs in as a user. */
export interface Identity extends Person {
  readonly userId: UserId
  readonly createdAt: Date
}

/** A person whose identity the provider has just proven, with all other claims it makes about them. */
export interface ProvenPerson extends Person {
  readonly claims: Readonly<Record<string, unknown>>
}

/** Who may sign in through the provider. */
export interface AdmissionRules {
  /**
   * The claim that maps a person to a user at the first sign-in: `email`, or one that contains a user ID. Undefined: no claim does, and
   * users link themselves.
   */
  readonly claim: string | undefined
  /** Allowed domains of a person's e-mail address, in lower case; empty: any. */
  readonly domains: readonly string[]
}

const longest = 254

/** A claim that is a text of reasonable length without control characters; undefined if there is none. */
export const textClaim = ({ claims }: ProvenPerson, name: string): string | undefined => {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return typeof value === "string" && value !== "" && value.length <= longest && !/\p{Cc}/u.test(value) ? value : undefined
}

// ASCII only: some other letters become ASCII when lowercased, and would turn into another person's address
const addressForm = /^[\x21-\x3f\x41-\x7e]+@([A-Za-z0-9.-]+)$/u

/** The person's e-mail address, if the provider says that it verified it. Some providers send that as a string. */
export const verifiedEmailOf = (person: ProvenPerson): string | undefined => {
  const email = textClaim(person, "email")
  const { email_verified: verified } = person.claims
  return email !== undefined && addressForm.test(email) && (verified === true || verified === "true") ? email : undefined
}

/** Why a person may not sign in as any user, phrased to follow a colon; undefined if the rules allow it. */
export const admissionProblem = (person: ProvenPerson, { domains }: AdmissionRules): string | undefined => {
  if (domains.length === 0) return undefined
  const email = verifiedEmailOf(person)
  if (email === undefined) return "the provider has no verified e-mail address for this person"
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase()
  return domains.includes(domain) ? undefined : "e-mail addresses of this domain are not admitted"
}

/** The letters of a name that are valid in user IDs. */
const lettersOf = (text: string): string => text.normalize("NFKD").replace(/[^A-Za-z]/gu, "")

/** The beginning of user IDs for this name: the initials of the first and the last word, or the first two letters of a single word. */
export const userIdStemOf = (name: string): string | undefined => {
  const words = name.split(/\s+/u).map(lettersOf).filter(Boolean)
  const [first = "", last = words.at(-1) ?? ""] = [words[0], words.at(-1)]
  const stem = words.length > 1 ? first.slice(0, 1) + last.slice(0, 1) : first.slice(0, 2)
  return stem.length < 2 ? undefined : stem.toUpperCase()
}
