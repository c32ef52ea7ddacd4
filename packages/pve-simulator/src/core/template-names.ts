import type { GuestOs } from "./state.ts"

/** A built template in pool SHARED. */
export interface TemplateSpec {
  readonly name: string
  readonly ostype: string
  readonly cores: number
  readonly memoryMb: number
  readonly diskGib: number
  /** The used part of the disk, which a full clone copies. */
  readonly usedGib: number
  readonly os: Pick<GuestOs, "family" | "prettyName" | "id" | "version"> & { readonly user: string }
}

/** Systems that can be given for a template. */
export const templateSystems = ["windows", "debian", "kali", "ubuntu", "rocky", "almalinux", "centos", "rhel"] as const
export type TemplateSystem = (typeof templateSystems)[number]

const localuser = "localuser"
const distributions: Readonly<Record<Exclude<TemplateSystem, "windows">, readonly [name: string, user: string]>> = {
  debian: ["Debian GNU/Linux", "debian"],
  kali: ["Kali GNU/Linux", "kali"],
  ubuntu: ["Ubuntu", localuser],
  rocky: ["Rocky Linux", "root"],
  almalinux: ["AlmaLinux", localuser],
  centos: ["CentOS Stream", localuser],
  rhel: ["Red Hat Enterprise Linux", localuser],
}

/** Additional resources of desktop templates. */
const sizes = {
  linux: { cores: 2, memoryMb: 4096, diskGib: 200, usedGib: 3 },
  "linux desktop": { cores: 4, memoryMb: 8192, diskGib: 250, usedGib: 16 },
  windows: { cores: 4, memoryMb: 8192, diskGib: 250, usedGib: 18 },
  "windows desktop": { cores: 2, memoryMb: 4096, diskGib: 250, usedGib: 22 },
} as const

const windowsNamed = (name: string): TemplateSpec => {
  const version = /\d+/u.exec(name)?.[0] ?? "2022"
  const server = version.length === 4
  // evaluation editions, as in most labs: everybody can get these media
  const volume = /(?:^|[^a-z])volume(?:[^a-z]|$)/iu.test(name)
  return {
    name,
    // 2022 and later are installed like Windows 11
    ostype: version === "11" || Number(version) >= 2022 ? "win11" : "win10",
    ...sizes[server ? "windows" : "windows desktop"],
    os: {
      family: "windows",
      id: "mswindows",
      prettyName: `${server ? `Windows Server ${version} Standard` : `Windows ${version} Enterprise`}${volume ? "" : " Evaluation"}`,
      version,
      user: localuser,
    },
  }
}

const linuxNamed = (name: string, id: Exclude<TemplateSystem, "windows">): TemplateSpec => {
  const [distribution, user] = distributions[id]
  const version = /-(\d+(?:\.\d+)*)(?:-|$)/u.exec(name)?.[1] ?? ""
  return {
    name,
    ostype: "l26",
    ...sizes[name.includes("desktop") ? "linux desktop" : "linux"],
    os: { family: "linux", id, prettyName: `${distribution} ${version === "" ? "Rolling" : version}`, version, user },
  }
}

/** The system in a template's name: `win` and a number, or the name of a distribution between dashes. */
const systemNamed = (name: string): TemplateSystem | undefined =>
  /^win(?:dows)?(?:[^a-z]|$)/iu.test(name)
    ? "windows"
    : templateSystems.find((system) =>
        name
          .toLowerCase()
          .split(/[^a-z]+/u)
          .includes(system),
      )

/** The system on an installer's disc, from the first of these names that contains one. */
export const systemOnDisc = (
  names: readonly string[],
  fallback: "windows" | "debian",
): Pick<GuestOs, "family" | "prettyName" | "id" | "version"> => {
  const known = fallback === "windows" ? undefined : names.find((name) => (systemNamed(name) ?? "windows") !== "windows")
  const id = known === undefined ? fallback : systemNamed(known)
  return id === undefined || id === "windows"
    ? windowsNamed(names.find((name) => systemNamed(name) === "windows") ?? "").os
    : linuxNamed((known ?? names[0] ?? "").replace(/\.iso$/iu, ""), id).os
}

/** A text does not describe a template; the message is one line. */
export class TemplateError extends Error {}

/** Names that the API accepts for VMs. */
const isName = (name: string): boolean => /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$/u.test(name)

/**
 * Parses the description of a template: `ubuntu-24.04-x64-server-template` or, if the name does not contain the system,
 * `flare-vm-template=windows`. Throws a `TemplateError` that says what is wrong.
 */
export const readTemplate = (text: string): TemplateSpec => {
  const [name = "", given, ...more] = text.trim().split("=")
  if (!isName(name) || more.length > 0)
    throw new TemplateError(
      `${text} is not a template: write NAME or NAME=SYSTEM; a name has letters, digits, dots and dashes, at most 63`,
    )
  const system = given === undefined ? systemNamed(name) : templateSystems.find((one) => one === given.toLowerCase())
  if (system === undefined)
    throw new TemplateError(`${name}: say which system it has, as in ${name}=windows; one of ${templateSystems.join(", ")}`)
  return system === "windows" ? windowsNamed(name) : linuxNamed(name, system)
}

/** The templates that come with a lab service. */
export const shippedTemplates: readonly TemplateSpec[] = [
  "debian-11-x64-server-template",
  "debian-12-x64-server-template",
  "kali-x64-desktop-template",
  "win11-22h2-x64-enterprise-template",
  "win2022-server-x64-template",
].map(readTemplate)

/** The same, and those of public labs. */
export const labTemplates: readonly TemplateSpec[] = [
  ...shippedTemplates,
  ...[
    "debian-10-x64-server-template",
    "debian-13-x64-server-template",
    "rocky-9-x64-server-template",
    "ubuntu-20.04-x64-server-template",
    "ubuntu-22.04-x64-server-template",
    "ubuntu-24.04-x64-server-template",
    "ubuntu-24.04-x64-desktop-template",
    "win10-21h2-x64-enterprise-template",
    "win10-22h2-x64-enterprise-template",
    "win11-24h2-x64-enterprise-template",
    "win2016-server-x64-template",
    "win2019-server-x64-template",
    "win2025-server-x64-template",
    "win2025-server-x64-tpm-template",
  ].map(readTemplate),
]

/** Adds templates to `base`; one with the same name replaces the other. */
export const withTemplates = (base: readonly TemplateSpec[], more: readonly TemplateSpec[]): readonly TemplateSpec[] => [
  ...new Map([...base, ...more].map((spec) => [spec.name, spec])).values(),
]
