/** What the files of a template say about it. */
import type { BuilderFacts } from "../source/builder-file.ts"
import { isShownText } from "../source/shown-text.ts"

export const templateSystems = ["linux", "windows", "macos", "other"] as const
export type TemplateSystem = (typeof templateSystems)[number]

/** A template that can be built. */
export interface TemplateDefinition {
  readonly name: string
  /** Undefined: its files do not say it. */
  readonly system: TemplateSystem | undefined
  readonly description: string | undefined
  /** The path of its picture among its files. */
  readonly picture?: string | undefined
}

export type TemplateTold = Omit<TemplateDefinition, "name">

/** What a machine of this template runs, by the template's name alone. */
export const systemByName = (name: string): TemplateSystem => {
  const text = name.toLowerCase()
  // first: `darwin` ends like a Windows
  if (/macos|osx|darwin/u.test(text)) return "macos"
  return text.includes("win") ? "windows" : "linux"
}

/** What runs on a VM of this type of the hypervisor. */
export const systemOfType = (os: string): TemplateSystem => {
  const type = os.toLowerCase()
  if (/^(?:win|w2k|wxp|wvista)/u.test(type)) return "windows"
  return type.startsWith("l2") ? "linux" : "other"
}

/** What the builder file says of the template, and its picture. */
export const templateTold = (
  { os, description }: Partial<Pick<BuilderFacts, "os" | "description">>,
  picture?: string,
): TemplateTold => ({
  system: os === undefined ? undefined : systemOfType(os),
  description: isShownText(description ?? "") ? description : undefined,
  ...(picture === undefined ? {} : { picture }),
})

/** Where it is noted what the builder file says, so that lists need not read it. */
export const templateReceiptFile = ".rangewright-template.json"

export const writeTemplateReceipt = ({ system, description, picture }: TemplateTold): string =>
  `${JSON.stringify({ system, description, picture })}\n`

const isSystem = (value: unknown): value is TemplateSystem => (templateSystems as readonly unknown[]).includes(value)

/** What the note says. People change folders by hand: what is no note says nothing. */
export const readTemplateReceipt = (text: string | undefined): TemplateTold => {
  const nothing = { system: undefined, description: undefined }
  try {
    const { system, description, picture } = JSON.parse(text ?? "{}") as Readonly<Record<string, unknown>>
    return {
      system: isSystem(system) ? system : undefined,
      description: typeof description === "string" && isShownText(description) ? description : undefined,
      ...(typeof picture === "string" ? { picture } : {}),
    }
  } catch {
    return nothing
  }
}

/** The variables that each builder file gets. */
export const builderVariables: readonly string[] = [
  "proxmox_url",
  "proxmox_host",
  "proxmox_skip_tls_verify",
  "proxmox_pool",
  "proxmox_storage_pool",
  "proxmox_storage_format",
  "iso_storage_pool",
  "ansible_home",
  "ludus_nat_interface",
]
