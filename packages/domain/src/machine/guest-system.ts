import type { RangeId } from "../access/ids.ts"
import type { ObservedMachine } from "./observed.ts"

/** What a guest's agent says of its operating system: a claim by whoever is root in it. What it does not say is absent. */
export interface GuestSystem {
  /** As `os-release` has it (`debian`, `rocky`); `windows` for every Windows. */
  readonly id?: string
  /** `Debian GNU/Linux`. */
  readonly name?: string
  /** `12`, `2022`. */
  readonly versionId?: string
  readonly kernel?: string
  /** `x86_64`. */
  readonly machine?: string
}

/**
 * Systems that are told apart. A guest that says another one is taken for what the configuration says of it: what it says becomes a group of
 * inventories, and names of groups are not for machines to make up.
 */
const knownSystems = [
  "windows",
  "almalinux",
  "alpine",
  "amzn",
  "arch",
  "centos",
  "debian",
  "fedora",
  "gentoo",
  "kali",
  "linuxmint",
  "macos",
  "nixos",
  "ol",
  "opensuse-leap",
  "opensuse-tumbleweed",
  "parrot",
  "rhel",
  "rocky",
  "sles",
  "ubuntu",
] as const

const known: ReadonlySet<string> = new Set(knownSystems)

/** The system among these words, such as the tags of a template; undefined where it is none or more than one. */
export const systemTagged = (words: readonly string[]): string | undefined => {
  const found = new Set(words.filter((word) => known.has(word)))
  return found.size === 1 ? [...found][0] : undefined
}

/** Where the templates for everybody are. */
const sharedPool = "SHARED"

/**
 * The system that templates are tagged with, by their names. Those in other ranges' pools say nothing: their users can call anything a
 * template, and tag it.
 */
export const taggedTemplates = (
  machines: readonly Pick<ObservedMachine, "template" | "name" | "pool" | "tags">[],
  rangeId: RangeId,
): ReadonlyMap<string, string> =>
  new Map(
    machines.flatMap(({ template, name, pool, tags }) => {
      const system = systemTagged(tags)
      const counts = template && (pool === undefined || pool === sharedPool || pool === rangeId)
      return counts && name !== undefined && system !== undefined ? [[name, system] as const] : []
    }),
  )

/** No line ends, and none of the signs by which tools find templates, quotes or options in a text. */
const plainText = /^[A-Za-z0-9][A-Za-z0-9 ._+~():,/-]{0,99}$/u

const plain = (value: unknown): string | undefined =>
  typeof value === "string" && plainText.test(value.trim()) ? value.trim() : undefined

/** What is usable of an agent's answer; members that are no short plain texts are left out. Undefined: nothing is. */
export const readGuestSystem = (answer: Readonly<Record<string, unknown>>): GuestSystem | undefined => {
  const id = plain(answer["id"])?.toLowerCase()
  const entries = {
    id: id === "mswindows" ? "windows" : id,
    name: plain(answer["name"]),
    versionId: plain(answer["version-id"]),
    kernel: plain(answer["kernel-release"]),
    machine: plain(answer["machine"]),
  }
  const said = Object.entries(entries).filter(([, value]) => value !== undefined)
  return said.length === 0 ? undefined : Object.fromEntries(said)
}

const distributions = ["debian", "kali", "ubuntu", "rocky", "almalinux", "centos", "rhel"] as const

const namedBy = (template: string): string | undefined =>
  distributions.find((name) =>
    template
      .toLowerCase()
      .split(/[^a-z]+/u)
      .includes(name),
  )

/** What is known of a machine's operating system, besides its kind. */
export interface SystemHints {
  /** What the configuration says it is; undefined for a machine that it does not name. */
  readonly kind: "windows" | "linux" | "macos" | undefined
  /** What its agent said. */
  readonly claimed: GuestSystem | undefined
  /** What its template is tagged with (`systemTagged`). */
  readonly tagged?: string | undefined
  /** Its template's name; undefined where it is not known. */
  readonly template: string | undefined
}

/**
 * What a machine runs: `windows`, `macos`, a distribution, or `linux` for one that nobody names. The kind is the configuration's, so that no
 * machine is spoken to in another way than its owner meant; which Linux it is says its agent, then its template's tag, and the template's
 * name last of all. A machine without a kind is what its agent says; undefined where that says nothing.
 */
export const osIdOf = ({ kind, claimed, tagged, template }: SystemHints): string | undefined => {
  const said = claimed?.id !== undefined && known.has(claimed.id) ? claimed.id : undefined
  if (kind === undefined) return said
  if (kind !== "linux") return kind
  return [said, tagged].find((id) => id !== undefined && id !== "windows" && id !== "macos") ?? namedBy(template ?? "") ?? "linux"
}
