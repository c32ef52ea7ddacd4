/** One lab that plans are tested on: a domain over two VLANs, an attacker, roles that need each other. */
import type { RangeConfig } from "../src/index.ts"
import { type ModelOptions, ModelWorld } from "./plan-model.ts"
import { accepted, machineKeys } from "./range-config-text.ts"

export const routerName = "LAB-router-debian11-x64"
export const labTemplates = ["debian-11-x64-server-template", "win-server", "win-client", "debian"]

type Keys = { readonly [key: string]: unknown }

const windows = (name: string, more: Keys): Keys =>
  machineKeys(`{{ range_id }}-${name}`, { linux: undefined, windows: {}, template: "win-server", ...more })

/** `change` replaces or adds keys of machines by short name; null leaves a machine out. */
export const labConfig = (change: Readonly<Record<string, Keys | null>> = {}, top: Keys = {}): RangeConfig => {
  const machines: Readonly<Record<string, Keys>> = {
    dc: windows("dc", { ip_last_octet: 11, domain: { fqdn: "corp.example", role: "primary-dc" } }),
    dc2: windows("dc2", { ip_last_octet: 12, domain: { fqdn: "corp.example", role: "alt-dc" } }),
    ws: windows("ws", {
      vlan: 20,
      template: "win-client",
      ip_last_octet: 21,
      windows: { chocolatey_packages: ["7zip", "git"] },
      domain: { fqdn: "CORP.example", role: "member" },
    }),
    web: machineKeys("{{ range_id }}-web", {
      vlan: 20,
      ip_last_octet: 5,
      roles: [{ name: "shop", depends_on: [{ vm_name: "{{ range_id }}-web", role: "database" }] }, "database"],
    }),
    kali: machineKeys("{{ range_id }}-kali", {
      vlan: 99,
      ip_last_octet: 5,
      linux: { packages: ["git"] },
      roles: [{ name: "probe", depends_on: [{ vm_name: "{{ range_id }}-web", role: "shop" }] }],
    }),
  }
  const added = Object.entries(change).filter(([name]) => !(name in machines))
  const ludus = [
    ...Object.entries(machines).flatMap(([name, keys]) => (change[name] === null ? [] : [{ ...keys, ...change[name] }])),
    ...added.map(([name, keys]) => machineKeys(`{{ range_id }}-${name}`, keys ?? {})),
  ]
  return accepted({ ludus, ...top }).config
}

export const labWorld = (options: Partial<ModelOptions> = {}): ModelWorld =>
  new ModelWorld({ templates: labTemplates, ...options })
