import {
  enterpriseEntitlement,
  entitles,
  scopedKeyDays,
  scopedKeysAtMost,
  type ScopedKey,
  subscribes,
  type User,
} from "@rangewright/domain"
import { Groups, LicenseProvider } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import { operation } from "../operation/operation.ts"
import { Settings, usualConsolesPerUser } from "../settings.ts"
import { Capabilities } from "../wire/capabilities.ts"

interface Rights {
  readonly administrator: boolean
  readonly manages: readonly string[]
  readonly buildsTemplates: boolean
  readonly installsRoles: boolean
}

/** The rights in words. Any scoped key admitted here is a read-only one. */
const inWords = (caller: User, user: User, key: ScopedKey | undefined, rights: Rights): readonly string[] => [
  ...(caller.id === user.id ? [] : [`You act as ${user.id}.`]),
  rights.administrator
    ? "You are an administrator: you may see and change all ranges, users and settings."
    : "You may use your own ranges and those that were shared with you.",
  ...(rights.manages.length === 0
    ? []
    : [`You manage ${rights.manages.join(", ")}: you decide who and what belongs there, and own its ranges.`]),
  // with such a key nobody may do this, whatever their rights
  ...(rights.buildsTemplates || key !== undefined ? [] : ["Only administrators may upload and build templates."]),
  ...(rights.installsRoles || key !== undefined ? [] : ["Only administrators may install and remove roles and collections."]),
  ...(key === undefined ? [] : [`Your API key ${key.id} is for reading only: nothing can be changed with it.`]),
]

export const getCapabilities = operation({
  id: "getCapabilities",
  route: "GET /capabilities",
  group: "Host",
  origin: "ours",
  does: "read what the service can do",
  summary: "The version, which features are on, what the caller may do, and limits",
  access: "user",
  target: "none",
  output: { type: "json", schema: Capabilities },
  statuses: { 200: "features, rights and limits as they are now" },
  handle: ({ caller, user, key }) =>
    Effect.gen(function* () {
      const settings = yield* Settings
      const licenses = yield* LicenseProvider
      const groups = yield* Groups
      const license = yield* licenses.current
      const isEnterprise = entitles(license, enterpriseEntitlement)
      const memberships = yield* groups.memberships(user.id)
      const mayChange = key === undefined
      const rights = {
        administrator: caller.isAdmin,
        manages: memberships.flatMap(({ group, role }) => (role === "manager" ? [group.name] : [])),
        buildsTemplates: mayChange && (user.isAdmin || settings.onlyAdminsBuildTemplates !== true),
        installsRoles: mayChange && (user.isAdmin || !settings.onlyAdminsChangeArtifacts),
      }
      return {
        version: settings.version,
        apiVersion: settings.peerVersion,
        simulator: settings.simulator ?? false,
        features: {
          vpn: settings.vpn !== undefined,
          kms: settings.kms !== undefined,
          singleSignOn: settings.singleSignOn !== undefined,
          autoShutdown: isEnterprise,
          antiSandbox: isEnterprise,
          subscriptionRoles: subscribes(license),
        },
        rights: { ...rights, text: inWords(caller, user, key, rights) },
        limits: {
          consoles: settings.consolesPerUser ?? usualConsolesPerUser,
          apiKeys: scopedKeysAtMost,
          apiKeyDays: scopedKeyDays,
          templateBuilds: settings.templateBuilds ?? 1,
        },
      }
    }),
})
