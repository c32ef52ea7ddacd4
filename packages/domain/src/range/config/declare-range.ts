/** The single declaration of a range configuration: validation, defaults, types and the JSON Schema all derive from it. */
import { roleSequences } from "../../plan/plan.ts"
import { machine } from "./declare-machine.ts"
import { network, router } from "./declare-network.ts"
import type { RangeDefaults } from "./model.ts"
import { any, choice, defaulted, flag, type Infer, list, object, optional, required, text, whole } from "./shape.ts"

const functionalLevel = choice("Win2003", "Win2008", "Win2008R2", "Win2012", "Win2012R2", "WinThreshold", "Win2025")
const secret = text({ secret: true })

/** `server`: the server's defaults; the keys of a range's own `defaults` override them one by one. */
export const declareRange = (server: RangeDefaults) => {
  const defaults = object({
    snapshot_with_RAM: defaulted(flag, server.snapshotWithRam, "Testing snapshots include memory."),
    stale_hours: defaulted(whole(), server.staleHours, "A testing snapshot younger than this many hours is used again."),
    ad_domain_functional_level: defaulted(functionalLevel, server.domainFunctionalLevel, "Functional level of new domains."),
    ad_forest_functional_level: defaulted(functionalLevel, server.forestFunctionalLevel, "Functional level of new forests."),
    ad_domain_admin: defaulted(text(), server.domainAdmin, "Administrator of each domain."),
    ad_domain_admin_password: defaulted(secret, server.domainAdminPassword, "Password of `ad_domain_admin`."),
    ad_domain_user: defaulted(text(), server.domainUser, "Ordinary user of each domain."),
    ad_domain_user_password: defaulted(secret, server.domainUserPassword, "Password of `ad_domain_user`."),
    ad_domain_safe_mode_password: defaulted(secret, server.safeModePassword, "Recovery password of domain controllers."),
    timezone: defaulted(text(), server.timezone, "Time zone of all machines, a name of the tz database.", {
      examples: ["Europe/Berlin"],
    }),
    enable_dynamic_wallpaper: defaulted(flag, server.dynamicWallpaper, "Windows desktops show facts about the machine."),
    machine_logins: defaulted(
      choice("template", "generated"),
      server.machineLogins,
      "`template`: machines keep the well-known password of their template's login. `generated`: each gets its own password along with its address.",
    ),
    target_node: optional(text(), "Node of the cluster for machines that name none."),
  })
  const notify = object(
    {
      urls: required(
        list(secret),
        "URLs to notify when a deploy ends, at most 10: http and https URLs get a POST with JSON; the URLs of other services have the form of Shoutrrr, such as `discord://token@webhookid`.",
      ),
    },
    { open: true },
  )
  const own = object(
    {
      role_order: optional(
        choice(...roleSequences),
        "`file`: roles run one after another in the order of the file, after all other work in machines. `graph`: as soon as their dependencies are done.",
      ),
    },
    { open: true },
  )
  const extensions = object(
    { rangewright: optional(own, "Settings of this service that other services ignore.") },
    { open: true },
  )
  return object({
    ludus: required(list(machine), "The machines of the range."),
    router: optional(router, "The machine that routes between the VLANs and to the outside."),
    network: optional(network, "The firewall between VLANs, the VPN and the outside; without it, all traffic is allowed."),
    defaults: optional(defaults, "Settings for all machines of the range."),
    global_role_vars: optional(any, "Variables of all roles on all machines and the router, as an object."),
    notify: optional(notify, "Who is notified when a deploy ends."),
    ludus_extensions: optional(extensions, "Data of other tools; kept as it is. Only `rangewright` in it is interpreted."),
  })
}

/** A checked file, in its own spelling, with the defaults of each object that is present. */
export type RangeFile = Infer<ReturnType<typeof declareRange>>
