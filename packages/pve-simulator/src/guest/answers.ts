/** A user created by an installer, with a password in plain text or as a hash. */
export interface Account {
  readonly name: string
  readonly password: string
}

/** The content of an answer file. */
export interface Answers {
  readonly accounts: readonly Account[]
  readonly hostname: string | undefined
  readonly agent: boolean
}

const unquoted = (text: string): string => text.trim().replace(/^(["'])(.*)\1$/u, "$2")

const first = (text: string, ...patterns: readonly RegExp[]): string | undefined => {
  for (const pattern of patterns) {
    const found = pattern.exec(text)?.[1]
    if (found !== undefined && unquoted(found) !== "") return unquoted(found)
  }
  return undefined
}

const account = (name: string | undefined, password: string | undefined): readonly Account[] =>
  name === undefined || password === undefined || !/^[A-Za-z_][\w-]{0,31}$/u.test(name) ? [] : [{ name, password }]

/** Debian's installer: `d-i passwd/username string ada`. */
const ofPreseed = (text: string): Answers => {
  const value = (question: string) =>
    first(text, new RegExp(String.raw`^[ \t]*d-i[ \t]+${question}[ \t]+(?:string|password)[ \t]+(.+)$`, "mu"))
  return {
    accounts: [
      ...account("root", value("passwd/root-password-crypted") ?? value("passwd/root-password")),
      ...account(value("passwd/username"), value("passwd/user-password-crypted") ?? value("passwd/user-password")),
    ],
    hostname: value("netcfg/get_hostname") ?? value("netcfg/hostname"),
    agent: text.includes("qemu-guest-agent"),
  }
}

/** Red Hat's: `rootpw --plaintext secret`, `user --name=ada --password=secret`. */
const ofKickstart = (text: string): Answers => ({
  accounts: [
    ...account("root", first(text, /^[ \t]*rootpw\b(?:[ \t]+--[a-z-]+)*[ \t]+([^-\s]\S*)/mu)),
    ...[...text.matchAll(/^[ \t]*user\b(.*)$/gmu)].flatMap(([, line = ""]) =>
      account(first(line, /--name[= ](\S+)/u), first(line, /--password[= ](\S+)/u)),
    ),
  ],
  hostname: first(text, /--hostname[= ](\S+)/u),
  agent: text.includes("qemu-guest-agent"),
})

/** Ubuntu's, in YAML: the user under `identity`. */
const ofUserData = (text: string): Answers => ({
  accounts: account(
    first(text, /^[ \t]*(?:-[ \t]*)?username:(.+)$/mu, /^[ \t]*-[ \t]*name:(.+)$/mu),
    first(text, /^[ \t]*(?:plain_text_)?passw(?:or)?d:(.+)$/mu),
  ),
  hostname: first(text, /^[ \t]*hostname:(.+)$/mu),
  agent: text.includes("qemu-guest-agent"),
})

/** Parses an answer file; undefined if it is not one of a Linux installer. */
export const readAnswers = (text: string): Answers | undefined => {
  if (/^[ \t]*d-i[ \t]/mu.test(text)) return ofPreseed(text)
  if (/^#cloud-config\b/mu.test(text)) return ofUserData(text)
  return /^[ \t]*(?:rootpw|user|autopart|clearpart|%packages)\b/mu.test(text) ? ofKickstart(text) : undefined
}

/** Windows: the accounts in `Autounattend.xml`. */
export const readUnattended = (text: string): Answers => ({
  accounts: [
    ...account("Administrator", first(text, /<AdministratorPassword>\s*<Value>([^<]*)</u)),
    ...[...text.matchAll(/<LocalAccount\b[\s\S]*?<\/LocalAccount>/gu)].flatMap(([entry]) =>
      account(first(entry, /<Name>([^<]+)</u), first(entry, /<Value>([^<]*)</u)),
    ),
  ],
  hostname: first(text, /<ComputerName>([^<*]+)</u),
  agent: true,
})

const parameters = ["preseed/url", "url", "inst\\.ks", "ks", "s", "seedfrom", "autoyast", "inst\\.auto"].join("|")
const addressOfAnswers = new RegExp(String.raw`(?:^|[\s;\\])(?:${parameters})=["']?(http:\/\/[^\s"';\\]+)`, "u")

/** The URL of the answers in a line typed at a boot menu; a cloud-init folder has them in `user-data`. */
export const answersUrl = (text: string): string | undefined => {
  const found = addressOfAnswers.exec(text)?.[1]
  return found?.endsWith("/") === true ? `${found}user-data` : found
}
