import { chmod, mkdir, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"

/** A role as a test writes it. */
export interface RoleOnOffer {
  readonly role: string
  readonly version: string
  readonly description: string
  readonly entitlements: readonly string[]
  /** Files besides the metadata; a text that begins with `#!` is an executable. */
  readonly files: Readonly<Record<string, string>>
}

export const web: RoleOnOffer = {
  role: "acme_web",
  version: "1.2.3",
  description: "Serves pages",
  entitlements: ["PRO_ROLES", "ENTERPRISE_ROLES"],
  files: { "tasks/main.yml": "- debug: msg=web\n", "files/run.sh": "#!/bin/sh\n", "templates/ä ö.j2": "{{ x }}\n" },
}

export const base: RoleOnOffer = {
  role: "acme.base",
  version: "0.1.0",
  description: "What all need",
  entitlements: ["ENTERPRISE_ROLES"],
  files: { "tasks/main.yml": "- debug: msg=base\n", [`defaults/${"long/".repeat(30)}main.yml`]: "a: 1\n" },
}

/** All files of the role, with the metadata made from its facts. */
export const filesOf = ({ version, description, entitlements, files }: RoleOnOffer): Readonly<Record<string, string>> => ({
  "meta/main.yml": `galaxy_info:\n  description: ${description}\n`,
  "meta/version.yml": `version: "${version}"\n`,
  "meta/subscription.yml": `entitlements: ${JSON.stringify(entitlements)}\n`,
  ...files,
})

export const isProgram = (text: string): boolean => text.startsWith("#!")

/** Makes the folder contain exactly these roles. */
export const writeRoles = async (folder: string, roles: readonly RoleOnOffer[]): Promise<void> => {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  for (const role of roles)
    for (const [path, text] of Object.entries(filesOf(role))) {
      const file = join(folder, role.role, path)
      await mkdir(dirname(file), { recursive: true })
      await writeFile(file, text)
      await chmod(file, isProgram(text) ? 0o755 : 0o644)
    }
}
