import type { UserId } from "./ids.ts"

/** A person as the provider of identities knows them. Neither part is a secret. */
export interface Person {
  /** URL of the provider. */
  readonly issuer: string
  /** The provider's name for the person, which it gives to nobody else. */
  readonly subject: string
}

/** A person who signs in as a user. */
export interface Identity extends Person {
  readonly userId: UserId
  readonly createdAt: Date
}

/** What the provider has just proven of a person, and what else it says of them: whatever it likes. */
export interface ProvenPerson extends Person {
  readonly claims: Readonly<Record<string, unknown>>
}

/** Who may sign in by way of the provider. */
export interface AdmissionRules {
  /**
   * The claim that tells which user a person is who comes for the first time: `email`, or one that holds a user ID. Undefined: nothing that the
   * provider says does, and users connect themselves.
   */
  readonly claim: string | undefined
  /** Domains that a person's e-mail address must be in, in lower case; empty: any. */
  readonly domains: readonly string[]
}

const longest = 254

/** A claim that is a text of a reasonable length without control characters; undefined: there is none. */
export const textClaim = ({ claims }: ProvenPerson, name: string): string | undefined => {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined
  return typeof value === "string" && value !== "" && value.length <= longest && !/\p{Cc}/u.test(value) ? value : undefined
}

// letters of other scripts are left out: some become those of ASCII in lower case, and would be another person's address
const addressForm = /^[\x21-\x3f\x41-\x7e]+@([A-Za-z0-9.-]+)$/u

/** The person's e-mail address, where the provider says that it has verified it. Some providers say so in a text. */
export const verifiedEmailOf = (person: ProvenPerson): string | undefined => {
  const email = textClaim(person, "email")
  const { email_verified: verified } = person.claims
  return email !== undefined && addressForm.test(email) && (verified === true || verified === "true") ? email : undefined
}

/** Why a person may not sign in whatever user they are, to follow a colon; undefined: they may, as far as the rules say. */
export const admissionProblem = (person: ProvenPerson, { domains }: AdmissionRules): string | undefined => {
  if (domains.length === 0) return undefined
  const email = verifiedEmailOf(person)
  if (email === undefined) return "the provider gives no verified e-mail address of this person"
  const domain = email.slice(email.lastIndexOf("@") + 1).toLowerCase()
  return domains.includes(domain) ? undefined : "e-mail addresses of this domain are not admitted"
}

/** Letters of a name that user IDs may have. */
const lettersOf = (text: string): string => text.normalize("NFKD").replace(/[^A-Za-z]/gu, "")

/** What user IDs for somebody of this name begin with: the initials of the first and the last word, or two letters of a single one. */
export const userIdStemOf = (name: string): string | undefined => {
  const words = name.split(/\s+/u).map(lettersOf).filter(Boolean)
  const [first = "", last = words.at(-1) ?? ""] = [words[0], words.at(-1)]
  const stem = words.length > 1 ? first.slice(0, 1) + last.slice(0, 1) : first.slice(0, 2)
  return stem.length < 2 ? undefined : stem.toUpperCase()
}
