import { createKeyFile, issueLicense, packRegistry, readKeyFile, signPackages } from "@rangewright/adapter-subscription"
import { Conflict, isFault, readLicenseTerms, tiers, writeLicenseTerms } from "@rangewright/domain"
import * as Result from "effect/Result"
import { writeFile } from "node:fs/promises"
import { failed } from "../backup/failed.ts"
import { parseWords, UsageError } from "./arguments.ts"

const helpText = `What you sign: registries of subscription roles, patched QEMU packages, licences

usage: npm start -- subscription COMMAND [options]

  keygen --key FILE
      create a private key (mode 0600) and print the public one, for subscription_keys, license_keys and
      node_packages_keys
  pack ROLES --key FILE --out FOLDER [--entitlements NAMES]
      pack each folder of ROLES as a role into the signed registry FOLDER, or update it; set subscription_folder to the
      folder, or let any web server serve it over HTTPS as subscription_registry
      version: meta/version.yml; description: galaxy_info in meta/main.yml; entitlements: meta/subscription.yml,
      else NAMES, separated by commas (default PRO_ROLES,ENTERPRISE_ROLES)
  sign-packages FOLDER --key FILE
      sign the patched QEMU packages FOLDER/VERSION/*.deb, each for nodes that have VERSION of pve-qemu-kvm, for
      node_packages_folder; sign again after every change of the folder
  license --key FILE --out FILE --tier TIER --to NAME [--entitlement NAME]... [--expires DATE]
          [--host NAME]...
      write a signed licence for license_file; TIER is ${tiers.join(", ")}; it ends at the beginning of DATE
      (2027-01-31, in UTC); it includes what its tier does, and the entitlements named, such as those of your own
      roles; with hosts it is valid only on one of them, by host name or instance name
`

const options = {
  key: { type: "string" },
  out: { type: "string" },
  entitlements: { type: "string", default: "PRO_ROLES,ENTERPRISE_ROLES" },
  tier: { type: "string" },
  to: { type: "string" },
  entitlement: { type: "string", multiple: true },
  expires: { type: "string" },
  host: { type: "string", multiple: true },
  help: { type: "boolean", short: "h", default: false },
} as const

type Values = ReturnType<typeof parseWords<typeof options>>["values"]

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`

const say = (text: string): void => void process.stdout.write(`${text}\n`)

const needed = (values: Values, command: string, name: "key" | "out" | "tier" | "to"): string => {
  const value = values[name]
  if (value === undefined || value === "") throw new UsageError(`subscription ${command} needs --${name}`)
  return value
}

const keygen = async (values: Values): Promise<void> => {
  const file = needed(values, "keygen", "key")
  const key = await createKeyFile(file)
  say(`${file} written: anyone who has this file can sign on your behalf. Keep it off the service's host.`)
  say(`Public key: ${key.public.text}`)
}

const pack = async (values: Values, roles: string | undefined): Promise<void> => {
  if (roles === undefined) throw new UsageError("subscription pack needs the folder of roles: subscription pack ROLES")
  const [file, out] = [needed(values, "pack", "key"), needed(values, "pack", "out")]
  const key = await readKeyFile(file)
  const entitlements = values.entitlements.split(",").map((name) => name.trim())
  const { index, changed } = await packRegistry({ roles, out, key, entitlements, now: new Date() }).catch((cause: unknown) => {
    throw failed(`write the registry ${out}`, cause)
  })
  for (const role of index.roles)
    say(`${role.role} ${role.version}  ${count(role.fileCount, "file")}  ${role.entitlements.join(",")}`)
  say(changed ? `${out} holds ${count(index.roles.length, "role")}, serial ${index.serial}.` : `${out} is already up to date.`)
  say(`Public key: ${key.public.text}`)
}

const signFolder = async (values: Values, folder: string | undefined): Promise<void> => {
  if (folder === undefined) throw new UsageError("subscription sign-packages needs a folder: subscription sign-packages FOLDER")
  const key = await readKeyFile(needed(values, "sign-packages", "key"))
  const sets = await signPackages(folder, key).catch((cause: unknown) => {
    throw failed(`sign the packages in ${folder}`, cause)
  })
  for (const set of sets)
    for (const one of set.packages) say(`for pve-qemu-kvm ${set.for}: ${one.name} ${one.version} ${one.architecture}`)
  say(`Public key: ${key.public.text}`)
}

const dateOf = (text: string): Date => {
  const date = new Date(`${text}T00:00:00Z`)
  if (!/^\d{4}-\d{2}-\d{2}$/u.test(text) || Number.isNaN(date.getTime()) || !date.toISOString().startsWith(text))
    throw new UsageError(`--expires needs a day such as 2027-01-31, not ${text}`)
  if (date.getTime() <= Date.now()) throw new UsageError(`--expires needs a day in the future, not ${text}`)
  return date
}

const hostOf = (text: string): string => {
  if (text.length > 253 || !/^[a-z\d](?:[\w.-]*[a-z\d])?$/iu.test(text))
    throw new UsageError(`--host needs the name of a host or an instance, such as lab.example, not ${text}`)
  return text
}

/** The hosts and period for which a licence is valid. */
const reachOf = ({ hosts, expiresAt }: { readonly hosts: readonly string[]; readonly expiresAt: Date | undefined }): string =>
  `${hosts.length === 0 ? "on any host" : `on ${hosts.join(", ")}`}, ${expiresAt === undefined ? "without end" : `until the beginning of ${expiresAt.toISOString().slice(0, 10)} (UTC)`}`

const writeNew = async (file: string, text: string): Promise<void> => {
  try {
    await writeFile(file, text, { flag: "wx", mode: 0o644 })
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw failed(`write the licence ${file}`, cause)
    throw new Conflict({
      what: `Cannot write the licence ${file}: the file exists`,
      hint: "Name a new file, or remove that one.",
    })
  }
}

const license = async (values: Values): Promise<void> => {
  const file = needed(values, "license", "key")
  const out = needed(values, "license", "out")
  const named = needed(values, "license", "tier")
  const tier = tiers.find((one) => one === named)
  if (tier === undefined) throw new UsageError(`--tier needs one of ${tiers.join(", ")}, not ${named}`)
  const terms = {
    tier,
    entitlements: values.entitlement ?? [],
    licensedTo: needed(values, "license", "to"),
    issuedAt: new Date(),
    expiresAt: values.expires === undefined ? undefined : dateOf(values.expires),
    hosts: (values.host ?? []).map(hostOf),
  }
  const readable = readLicenseTerms(writeLicenseTerms(terms))
  if (Result.isFailure(readable))
    throw new UsageError(`subscription license: no service could read the result: ${readable.failure}`)
  const key = await readKeyFile(file)
  await writeNew(out, issueLicense(terms, key))
  say(`${out} written: ${[tier, ...terms.entitlements].join(", ")}, for ${terms.licensedTo}, ${reachOf(terms)}.`)
  say(`Public key: ${key.public.text}`)
}

const run = async (argv: readonly string[]): Promise<void> => {
  const { values, positionals } = parseWords(argv, options)
  const [command, ...rest] = positionals
  if (values.help || command === "help") return void process.stdout.write(helpText)
  if (command === undefined)
    throw new UsageError("subscription needs one of keygen, pack, sign-packages, license", `\n${helpText}`)
  const surplus = command === "pack" || command === "sign-packages" ? rest.slice(1) : rest
  if (surplus.length > 0) throw new UsageError(`subscription ${command} does not accept ${surplus.join(" ")}`)
  switch (command) {
    case "keygen":
      return keygen(values)
    case "pack":
      return pack(values, rest[0])
    case "sign-packages":
      return signFolder(values, rest[0])
    case "license":
      return license(values)
    default:
      throw new UsageError(`Unknown command subscription ${command}. Commands: keygen, pack, sign-packages, license`)
  }
}

/** For organisations that offer roles and licences of their own. Touches neither a service nor a data folder. */
export const subscription = async (argv: readonly string[]): Promise<number> => {
  try {
    await run(argv)
    return 0
  } catch (error) {
    if (!isFault(error)) throw error
    process.stderr.write(`${error.message}\n${error.hint === undefined ? "" : `${error.hint}\n`}`)
    return 1
  }
}
