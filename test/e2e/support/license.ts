import { issueLicense, type SigningKey } from "@rangewright/adapter-subscription"
import type { LicenseTerms } from "@rangewright/domain"
import { writeFileSync } from "node:fs"
import { hostname } from "node:os"

/** A licence for this host, signed with the key. */
export const writeLicense = (file: string, key: SigningKey, more: Partial<LicenseTerms> = {}): void =>
  writeFileSync(
    file,
    issueLicense(
      {
        tier: "professional",
        entitlements: [],
        licensedTo: "Example Training",
        issuedAt: new Date("2026-01-01T00:00:00Z"),
        expiresAt: new Date("2999-01-01T00:00:00Z"),
        hosts: [hostname()],
        ...more,
      },
      key,
    ),
  )
