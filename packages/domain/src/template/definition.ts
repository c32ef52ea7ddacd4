/** The metadata of a template in its files. */
import type { BuilderFacts } from "../source/builder-file.ts"
import { isShownText } from "../source/shown-text.ts"

export const templateSystems = ["linux", "windows", "macos", "other"] as const
export type TemplateSystem = (typeof templateSystems)[number]

/** A template that can be built. */
export interface TemplateDefinition {
  readonly name: string
  /** Undefined if its files do not specify it. */
  readonly system: TemplateSystem | undefined
  readonly description: string | undefined
  /** The path of its picture in its folder. */
  readonly picture?: string | undefined
}

export type TemplateTold = Omit<TemplateDefinition, "name">

/** The system of a template, guessed from its name. */
export const systemByName = (name: string): TemplateSystem => {
  const text = name.toLowerCase()
  // checked first: `darwin` contains `win`
  if (/macos|osx|darwin/u.test(text)) return "macos"
  return text.includes("win") ? "windows" : "linux"
}

/** The system for an OS type of the hypervisor. */
export const systemOfType = (os: string): TemplateSystem => {
  const type = os.toLowerCase()
  if (/^(?:win|w2k|wxp|wvista)/u.test(type)) return "windows"
  return type.startsWith("l2") ? "linux" : "other"
}

/** The metadata in the builder file, and the template's picture. */
export const templateTold = (
  { os, description }: Partial<Pick<BuilderFacts, "os" | "description">>,
  picture?: string,
): TemplateTold => ({
  system: os === undefined ? undefined : systemOfType(os),
  description: isShownText(description ?? "") ? description : undefined,
  ...(picture === undefined ? {} : { picture }),
})

/** The file that caches the builder file's metadata, so that lists need not parse the builder file. */
export const templateReceiptFile = ".rangewright-template.json"

export const writeTemplateReceipt = ({ system, description, picture }: TemplateTold): string =>
  `${JSON.stringify({ system, description, picture })}\n`

const isSystem = (value: unknown): value is TemplateSystem => (templateSystems as readonly unknown[]).includes(value)

/** Reads the cached metadata. An invalid file, for example after manual changes, gives no metadata. */
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

/** The variables passed to every builder file. */
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
