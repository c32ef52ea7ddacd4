/** Options that a command takes besides `--help`. */
export type Option = "config" | "key-passphrase" | "once" | "port" | "replace" | "secret-key" | "speed" | "unmarked-database"

/** One command, as help tells it. */
export interface CommandWords {
  /** What stands behind its name. */
  readonly operands: string
  readonly about: string
  readonly options: readonly Option[]
  /** What help of this command alone tells besides. */
  readonly more?: string
}

/** Every command: the one list from which help, checks and refusals are made. */
export const commandWords = {
  serve: { operands: "", about: "run the service (the default)", options: ["config"] },
  doctor: {
    operands: "",
    about: "check the hypervisor, the token's rights, storage, templates, network, clock and disk, and say what to do",
    options: ["config"],
  },
  backup: {
    operands: "FILE",
    about: "write all that the service keeps into one file, while it runs (backup --help)",
    options: ["key-passphrase", "config"],
    more: `In FILE: the database (also one on PostgreSQL), what sources, blueprints and installed roles hold, what roles set, ROOT's key and the
certificate, both sealed. Not in it: the configuration and, without --key-passphrase, the key that opens its secrets (secret-key): keep a
copy of that apart, once; it is the same for all backups until rotate-key. FILE is a gzipped tar, readable by its owner only. It is not
encrypted as a whole: configurations and logs of ranges are plain in it.
`,
  },
  restore: {
    operands: "FILE",
    about: "make a backup what an empty data folder holds; with --replace, also a used one (restore --help)",
    options: ["secret-key", "key-passphrase", "replace", "unmarked-database", "config"],
    more: `The key of the backup is taken from the data folder (secret-key), from secret_key, or from where an option says; a wrong one is
refused, and so is a file that is not, to the last byte, what the service wrote. Stop the service first. Cut off at any point, the folder
holds what it held or all of the backup. A plain file of SQLite, as earlier versions made them, holds the
database alone and bears no mark: nothing shows that it is unchanged. It is restored with --unmarked-database only.
`,
  },
  "root-key": {
    operands: "[FILE]",
    about: "give ROOT a new key, or the one in FILE, also while the service runs; the old one is void",
    options: ["config"],
  },
  "rotate-key": {
    operands: "[FILE]",
    about: "seal the secrets of the database with a new key (rotate-key --help)",
    options: ["config"],
  },
  "begin-anew": {
    operands: "",
    about: "set aside what the data folder holds: the next start begins with an empty database",
    options: ["config"],
  },
  migrate: {
    operands: "WHAT",
    about: "move networks from bridges to SDN VNets and back, take an older installation over (migrate --help)",
    options: ["config"],
  },
  subscription: {
    operands: "WHAT",
    about: "pack a registry of subscription roles, make keys, issue licences (subscription --help)",
    options: [],
  },
  openapi: { operands: "", about: "print the OpenAPI document as JSON and end", options: [] },
  docs: { operands: "", about: "write the generated pages of docs/", options: [] },
  demo: {
    operands: "",
    about: "deploy an example lab on the built-in simulator and serve it (npm run demo)",
    options: ["once", "speed", "port"],
  },
  help: { operands: "[COMMAND]", about: "print this text, or what one command does", options: [] },
  version: { operands: "", about: "print the version", options: [] },
} as const satisfies Readonly<Record<string, CommandWords>>

export type Command = keyof typeof commandWords
export const commands = Object.keys(commandWords) as readonly Command[]

/** What a person types for it. */
export const usageOf = (command: Command): string => [command, commandWords[command].operands].filter(Boolean).join(" ")
