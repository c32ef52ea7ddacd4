import { type MemoryRegistry, offerRole } from "@rangewright/adapter-memory"

/** A role that professional licences include. */
export const fillRegistry = (registry: MemoryRegistry): void => {
  offerRole(
    registry,
    { role: "acme_web", version: "1.2.3", description: "Serves pages", entitlements: ["PRO_ROLES", "ENTERPRISE_ROLES"] },
    { "meta/main.yml": "galaxy_info: {author: acme, description: Serves pages}\n", "tasks/main.yml": "- debug: msg=web\n" },
  )
}
