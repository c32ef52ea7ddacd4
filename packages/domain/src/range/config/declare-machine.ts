/** The keys of one machine, an element of `ludus`. */
import {
  any,
  choice,
  type Constraint,
  defaulted,
  either,
  flag,
  list,
  number,
  object,
  optional,
  required,
  text,
  whole,
  wholeOf,
} from "./shape.ts"

const hostName = {
  expression: /^(?=.{1,255}$)[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/u,
  allowed: "a host name: labels of letters, digits and hyphens, joined by dots, at most 255 characters",
}

const roleDependency = object(
  {
    vm_name: required(text(), "The machine that the role must have run on, as written in its `vm_name`."),
    role: required(text(), "The role that must have run there."),
  },
  { open: true },
)
export const roleUse = either(
  text(),
  object(
    {
      name: required(text(), "The name of the installed role."),
      depends_on: optional(list(roleDependency), "What must have run before, on this machine or another."),
    },
    { open: true },
  ),
)

const windows = object({
  sysprep: defaulted(flag, false, "Sysprep the machine (new security identifiers) before anything else is done to it."),
  install_additional_tools: defaulted(flag, false, "Install a fixed set of analysis and browser tools."),
  chocolatey_ignore_checksums: defaulted(flag, false, "Install Chocolatey packages even if their checksum does not match."),
  chocolatey_packages: defaulted(list(text()), [], "Chocolatey packages to install.", { examples: [["vscodium", "7zip"]] }),
  office_version: optional(wholeOf(2013, 2016, 2019, 2021), "Microsoft Office to install."),
  office_arch: optional(choice("64bit", "32bit"), "Architecture of Microsoft Office; 64bit if only `office_version` is set."),
  visual_studio_version: optional(wholeOf(2017, 2019, 2022), "Visual Studio Community to install."),
  autologon_user: optional(
    text(),
    "User who is logged on at boot; by default the domain's user or, without a domain, the template's own.",
  ),
  autologon_password: optional(text({ secret: true }), "Password of `autologon_user`."),
  gpos: defaulted(
    list(choice("disable_defender", "anon_share_access")),
    [],
    "Group policies to create in the domain; only on its primary domain controller.",
  ),
})

const linux = either(
  flag,
  object({ packages: defaulted(list(text()), [], "Packages to install with the system's package manager.") }),
)

const domain = object({
  fqdn: required(text({ pattern: hostName }), "The Active Directory domain.", { examples: ["corp.example"] }),
  role: required(choice("primary-dc", "alt-dc", "member"), "Role of the machine in the domain."),
})

const testing = object({
  snapshot: required(flag, "Take a snapshot when testing starts and roll back to it when testing stops."),
  block_internet: required(flag, "Isolate the machine from everything outside the range while testing."),
})

const systems = ["windows", "linux", "macOS"] as const

const oneSystem: Constraint = {
  schema: { oneOf: systems.map((system) => ({ required: [system] })) },
  check: (node) => {
    const given = systems.filter((system) => node.entries.has(system))
    if (given.length === 1) return undefined
    const allowed = "exactly one of the keys windows, linux and macOS"
    if (given.length === 0)
      return { code: "no-operating-system", message: "does not say which operating system runs here", allowed }
    const second = given[1] ?? systems[0]
    const message = `names ${given.length} systems: ${given.join(", ")}; a key counts even when its value is false`
    return { code: "several-operating-systems", key: [second], message, allowed }
  },
}

const policiesOnPrimary: Constraint = {
  schema: {
    anyOf: [
      { not: { required: ["windows"], properties: { windows: { type: "object", required: ["gpos"] } } } },
      { properties: { domain: { properties: { role: { const: "primary-dc" } } } } },
    ],
  },
  check: (node) => {
    const options = node.entries.get("windows")?.value
    const member = node.entries.get("domain")?.value
    if (options?.kind !== "map" || !options.entries.has("gpos") || member?.kind !== "map") return undefined
    const role = member.entries.get("role")?.value
    if (role === undefined || (role.kind === "scalar" && role.value === "primary-dc")) return undefined
    return {
      code: "policies-need-primary-dc",
      key: ["windows", "gpos"],
      message: "only the primary domain controller creates group policies",
      allowed: "`gpos` where domain.role is primary-dc",
    }
  },
}

export const machine = object(
  {
    vm_name: required(
      text(),
      "Name on the hypervisor and in the inventory; unique. `{{ range_id }}` stands for the range's id.",
      {
        examples: ["{{ range_id }}-dc01"],
      },
    ),
    hostname: required(text(), "Host name in the guest; unique. Windows uses 15 characters of it.", {
      examples: ["{{ range_id }}-DC01"],
    }),
    template: required(text(), "The template that the machine is cloned from.", { examples: ["debian-12-x64-server-template"] }),
    vlan: required(whole(2, 255), "VLAN, and third octet of the address."),
    ip_last_octet: required(whole(1, 253), "Fourth octet of the address. DHCP also assigns 100 to 253 at first boot."),
    ram_gb: required(whole(1, 4096), "Memory in GiB."),
    ram_min_gb: optional(number(0.5, 4096), "Minimum memory in GiB that ballooning leaves; without it, there is no ballooning."),
    cpus: required(whole(1, 512), "Processor cores."),
    full_clone: defaulted(flag, false, "Copy the template's disk instead of sharing it."),
    force_ip: defaulted(flag, false, "Use the configured address when the guest agent reports none."),
    unmanaged: defaulted(
      flag,
      false,
      "Do nothing in the guest: no waiting for an address, no address, no settings. Not for domain controllers.",
    ),
    testing: defaulted(testing, { snapshot: true, block_internet: true }, "What happens when testing mode starts."),
    windows: optional(windows, "The machine runs Windows; `{}` for no options."),
    linux: optional(linux, "The machine runs Linux; true, or an object with packages."),
    macOS: optional(flag, "The machine runs macOS."),
    domain: optional(domain, "Membership in an Active Directory domain; Windows only."),
    roles: defaulted(list(roleUse), [], "Ansible roles to run on the machine, in this order unless dependencies say otherwise.", {
      examples: [["docker", { name: "shop", depends_on: [{ vm_name: "{{ range_id }}-db", role: "mysql" }] }]],
    }),
    role_vars: optional(any, "Variables of all roles of this machine, as an object."),
    ansible_groups: defaulted(list(text()), [], "Further groups of the machine in the inventory."),
    dns_rewrites: defaulted(list(text()), [], "Further DNS names for this machine's address; `*.` stands for any first label.", {
      examples: [["shop.example", "*.shop.example"]],
    }),
    primary_dns_server: optional(text(), "First name server of the guest; by default the router."),
    secondary_dns_server: optional(text(), "Second name server of the guest."),
    target_node: optional(text(), "Node of the cluster that the machine is placed on."),
  },
  { constraints: [oneSystem, policiesOnPrimary] },
)
