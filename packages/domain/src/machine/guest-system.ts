import type { RangeId } from "../access/ids.ts"
import type { ObservedMachine } from "./observed.ts"

/**
 * The operating system as the guest agent reports it: unverified, whoever is root in the guest controls it. Unreported fields are absent.
 */
export interface GuestSystem {
  /** ID in `os-release` (`debian`, `rocky`); `windows` for every Windows. */
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
 * Systems that are distinguished. If a guest reports any other, the configuration's information counts: the value becomes an inventory
 * group, and machines must not be able to invent group names.
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

/** The only system among these words, such as a template's tags; undefined if there is none or more than one. */
export const systemTagged = (words: readonly string[]): string | undefined => {
  const found = new Set(words.filter((word) => known.has(word)))
  return found.size === 1 ? [...found][0] : undefined
}

/** The pool of templates for everybody. */
const sharedPool = "SHARED"

/**
 * The system that each template is tagged with, by template name. Templates in other ranges' pools are ignored: their users can make
 * anything a template and tag it.
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

/** No line breaks, and none of the characters that tools treat as templates, quotes or options. */
const plainText = /^[A-Za-z0-9][A-Za-z0-9 ._+~():,/-]{0,99}$/u

const plain = (value: unknown): string | undefined =>
  typeof value === "string" && plainText.test(value.trim()) ? value.trim() : undefined

/** The usable part of an agent's answer; fields that are not short plain text are left out. Undefined if nothing is usable. */
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

/** What is known about a machine's operating system. */
export interface SystemHints {
  /** The kind in the configuration; undefined for a machine that it does not contain. */
  readonly kind: "windows" | "linux" | "macos" | undefined
  /** The system as its agent reported it. */
  readonly claimed: GuestSystem | undefined
  /** The system that its template is tagged with (`systemTagged`). */
  readonly tagged?: string | undefined
  /** Its template's name; undefined if unknown. */
  readonly template: string | undefined
}

/**
 * The system of a machine: `windows`, `macos`, a distribution, or `linux` for an unknown one. The kind always comes from the configuration,
 * so that a machine is never managed in another way than its owner intended. The distribution comes from its agent, else its template's
 * tag, else its template's name. Without a kind, the agent's report counts; undefined if there is none.
 */
export const osIdOf = ({ kind, claimed, tagged, template }: SystemHints): string | undefined => {
  const said = claimed?.id !== undefined && known.has(claimed.id) ? claimed.id : undefined
  if (kind === undefined) return said
  if (kind !== "linux") return kind
  return [said, tagged].find((id) => id !== undefined && id !== "windows" && id !== "macos") ?? namedBy(template ?? "") ?? "linux"
}
