import { type LicenseTerms, writeLicenseTerms } from "@rangewright/domain"
import { seal } from "../trust/envelope.ts"
import type { SigningKey } from "../trust/keys.ts"

/** The text of a signed licence for a licence file. */
export const issueLicense = (terms: LicenseTerms, key: SigningKey): string =>
  seal("application/vnd.rangewright.license+json", writeLicenseTerms(terms), key)
