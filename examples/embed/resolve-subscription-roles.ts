/** Resolve subscription roles: which roles of a configuration are subscription roles, and which of them a licence includes. */
import { resolveSubscriptionRoles } from "@rangewright/embed"

const role = (name: string, packageId: string, entitlements: readonly string[]) => ({
  role: name,
  version: "1.2.0",
  description: "An example",
  file_count: 3,
  last_modified_unix: 1_767_225_600,
  package_uuid: packageId,
  entitlements,
  package: { bytes: 2048, sha256: "0".repeat(64) },
})
const index = JSON.stringify({
  serial: 1,
  issued_unix: 1_767_225_600,
  roles: [
    role("acme.exchange", "00000000-0000-4000-8000-000000000001", ["PRO_ROLES"]),
    role("acme.forest", "00000000-0000-4000-8000-000000000002", ["ENTERPRISE_ROLES"]),
  ],
})

const resolved = resolveSubscriptionRoles({
  index,
  license: { active: true, entitlements: ["PRO_ROLES"] },
  wanted: ["acme.exchange", "acme.forest", "geerlingguy.docker"],
})
for (const { name, version, tier, mayInstall } of resolved)
  process.stdout.write(`${name} ${version}, ${tier}: ${mayInstall ? "may be installed" : "the licence does not open it"}\n`)
