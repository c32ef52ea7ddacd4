/** Random ranges to plan: small, but with every kind of machine, domain and role dependency. */
import fc from "fast-check"
import type { RangeConfig } from "../src/index.ts"
import { accepted, machineKeys } from "./range-config-text.ts"

const templatesOf = { windows: ["win-a", "win-b"], linux: ["deb-a", "deb-b"], macos: ["mac-a"] } as const
export const templateNames: readonly string[] = ["debian-11-x64-server-template", ...Object.values(templatesOf).flat()]

interface Draft {
  readonly os: "windows" | "linux" | "macos"
  readonly template: number
  readonly vlan: number
  readonly cpus: number
  readonly ram: number
  readonly balloon: boolean
  readonly full: boolean
  readonly unmanaged: boolean
  readonly extras: boolean
  readonly domain: "primary-dc" | "alt-dc" | "member" | "none"
  readonly domainNumber: number
  readonly roles: readonly { readonly name: number; readonly needs: number | undefined }[]
  readonly present: boolean
}

const draft: fc.Arbitrary<Draft> = fc.record({
  os: fc.constantFrom("windows", "linux", "linux", "windows", "macos"),
  template: fc.nat(1),
  vlan: fc.constantFrom(10, 20, 99),
  cpus: fc.integer({ min: 1, max: 4 }),
  ram: fc.integer({ min: 2, max: 4 }),
  balloon: fc.boolean(),
  full: fc.boolean(),
  unmanaged: fc.constantFrom(false, false, false, true),
  extras: fc.boolean(),
  domain: fc.constantFrom("primary-dc", "alt-dc", "member", "none"),
  domainNumber: fc.nat(1),
  roles: fc.array(fc.record({ name: fc.nat(2), needs: fc.option(fc.nat(20), { nil: undefined }) }), { maxLength: 2 }),
  present: fc.constantFrom(true, true, true, false),
})

const windowsOf = (d: Draft): object => ({
  sysprep: d.extras,
  ...(d.extras ? { chocolatey_packages: ["7zip"], install_additional_tools: d.full } : {}),
})

const fileOf = (drafts: readonly Draft[]): object => {
  const roles: { readonly vm_name: string; readonly role: string }[] = []
  const ludus = drafts.flatMap((d, i) => {
    if (!d.present) return []
    const templates = templatesOf[d.os]
    const vm_name = `{{ range_id }}-m${i}`
    const names = new Set<number>()
    const own = d.roles.flatMap(({ name, needs }) => {
      if (names.has(name)) return []
      names.add(name)
      // only on roles that came before, so that there is no cycle
      const need = needs === undefined ? undefined : roles[needs % Math.max(1, roles.length)]
      return [{ name: `role${name}`, ...(need === undefined ? {} : { depends_on: [need] }) }]
    })
    roles.push(...own.map((r) => ({ vm_name, role: r.name })))
    const os =
      d.os === "windows"
        ? { windows: windowsOf(d) }
        : d.os === "macos"
          ? { macOS: true }
          : { linux: d.extras ? { packages: ["git"] } : true }
    return [
      machineKeys(vm_name, {
        linux: undefined,
        template: templates[d.template % templates.length],
        vlan: d.vlan,
        ip_last_octet: i + 1,
        ram_gb: d.ram,
        cpus: d.cpus,
        full_clone: d.full,
        unmanaged: d.unmanaged,
        ...(d.balloon ? { ram_min_gb: 1 } : {}),
        ...(d.os === "windows" && d.domain !== "none" ? { domain: { fqdn: `d${d.domainNumber}.example`, role: d.domain } } : {}),
        roles: own,
        ...os,
      }),
    ]
  })
  return { ludus }
}

const notEmpty = (drafts: readonly Draft[]): readonly Draft[] =>
  drafts.some((d) => d.present) ? drafts : drafts.map((d) => ({ ...d, present: true }))
const parse = (drafts: readonly Draft[]): RangeConfig => accepted(fileOf(notEmpty(drafts))).config

const drafts = fc.array(draft, { minLength: 1, maxLength: 6 })

export const anyConfig: fc.Arbitrary<RangeConfig> = drafts.map(parse)

/** A configuration before and after an edit: some machines changed, added, left out. */
export const anyEdit: fc.Arbitrary<readonly [RangeConfig, RangeConfig]> = fc
  .tuple(drafts, drafts, fc.array(fc.boolean(), { minLength: 6, maxLength: 6 }))
  .map(([before, other, kept]) => [
    parse(before),
    parse(
      Array.from(
        { length: Math.max(before.length, other.length) },
        (_, i) => (kept[i] === true ? before[i] : other[i]) ?? before[i] ?? other[i]!,
      ),
    ),
  ])
