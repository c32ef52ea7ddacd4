import type { Answers } from "./rehearsal.ts"

/** Secrets of the range, each of its own, so that they are found wherever they do not belong. */
export const secrets = { admin: "Admin-Secret-1", user: "User-Secret-2", safeMode: "Safe-Mode-Secret-3" } as const

const machine = (name: string, octet: number, more: string): string => `
  - vm_name: "{{ range_id }}-${name}"
    hostname: "{{ range_id }}-${name}"
    template: win2022-server-x64-template
    vlan: 10
    ip_last_octet: ${octet}
    ram_gb: 4
    cpus: 2
    ${more}`

/** A range with everything that a configuration may ask of machines with Windows. */
export const windowsRange = `ludus:${[
  machine(
    "dc",
    11,
    "windows: { sysprep: true, gpos: [disable_defender, anon_share_access] }\n    domain: { fqdn: corp.example, role: primary-dc }",
  ),
  machine("dc2", 12, "windows: {}\n    domain: { fqdn: corp.example, role: alt-dc }"),
  machine(
    "ws",
    21,
    `windows:
      install_additional_tools: true
      chocolatey_packages: [vscodium, git]
      chocolatey_ignore_checksums: true
      office_version: 2021
      office_arch: 64bit
      visual_studio_version: 2022
    domain: { fqdn: corp.example, role: member }`,
  ),
  machine("alone", 31, "windows: { gpos: [anon_share_access], office_version: 2013, office_arch: 32bit }"),
].join("")}
defaults:
  timezone: Europe/Berlin
  ad_domain_admin_password: ${secrets.admin}
  ad_domain_user_password: ${secrets.user}
  ad_domain_safe_mode_password: ${secrets.safeMode}
`

const observed: Answers = {
  "*": { changed: false },
  "ansible.windows.win_hostname": { reboot_required: false },
  "ansible.windows.win_feature": { reboot_required: false },
  "ansible.windows.win_stat": { stat: { exists: true } },
  "ansible.windows.win_reg_stat": { value: "IMAGE_STATE_COMPLETE" },
  "ansible.windows.win_service_info": { services: [{ start_mode: "disabled" }] },
  Report: { changed: false },
  "Install the product key": { result: { error: "" } },
  "Point it to the KMS host and activate it": { result: { error: "" } },
  "Activate it with Microsoft's servers": { result: { error: "" } },
  "microsoft.ad.object_info": { objects: [{ objectSid: { Sid: "S-1-5-21-1-2-3" } }] },
}

/** What modules answer on a machine that its template has just been cloned to: everything is still to be done. */
export const newMachine: Answers = {
  ...observed,
  "*": { changed: true },
  "ansible.windows.setup": {
    changed: false,
    ansible_facts: { ansible_windows_domain_member: false, ansible_windows_domain_role: "Stand-alone server" },
  },
  "ansible.windows.win_hostname": { reboot_required: true },
  "ansible.windows.win_feature": { reboot_required: true },
  "Check whether Sysprep has already succeeded": { stat: { exists: false } },
  "Read the machine's network settings": { changed: false, result: { adapter: "Ethernet", has: false } },
  "Renew the evaluation period before it ends": { result: { restart: true } },
}

/** What they answer on a domain controller on which everything was done before. */
export const settledMachine: Answers = {
  ...observed,
  "ansible.windows.setup": {
    ansible_facts: { ansible_windows_domain_member: true, ansible_windows_domain_role: "Primary domain controller" },
  },
  "Read the machine's network settings": { result: { adapter: "Ethernet", has: true } },
  "Renew the evaluation period before it ends": { result: { restart: false } },
}
