/** Options that a command takes besides `--help`. */
export type Option = "config" | "key-passphrase" | "once" | "port" | "replace" | "secret-key" | "speed" | "unmarked-database"

/** Help texts of one command. */
export interface CommandWords {
  /** Operands after its name. */
  readonly operands: string
  readonly about: string
  readonly options: readonly Option[]
  /** Additional text for this command's own help. */
  readonly more?: string
}

/** All commands: help, checks and error messages are derived from this list. */
export const commandWords = {
  serve: { operands: "", about: "run the service (the default)", options: ["config"] },
  doctor: {
    operands: "",
    about: "check the hypervisor, the token's privileges, storage, templates, network, clock and disk, and say what to fix",
    options: ["config"],
    more: `exit status:
  0    all checks passed, perhaps with warnings
  1    a check failed, or the checks could not be run: the text says what to do
  2    the command line cannot be understood
`,
  },
  backup: {
    operands: "FILE",
    about: "write all data of the service to one file, while it runs (backup --help)",
    options: ["key-passphrase", "config"],
    more: `FILE contains the database (also one on PostgreSQL), the content of sources, blueprints and installed roles, what roles set, and ROOT's
key and the certificate, both encrypted. It does not contain the configuration or, without --key-passphrase, the key for its secrets
(secret-key): keep a copy of that elsewhere; it stays the same for all backups until rotate-key. FILE is a gzipped tar, readable by its
owner only. It is not encrypted as a whole: configurations and logs of ranges are in plain text.
`,
  },
  restore: {
    operands: "FILE",
    about: "restore a backup into an empty data folder or, with --replace, into a used one (restore --help)",
    options: ["secret-key", "key-passphrase", "replace", "unmarked-database", "config"],
    more: `The key of the backup comes from the data folder (secret-key), from secret_key, or from an option. A wrong key is refused, and so is a
file that is not, to the last byte, what the service wrote. Stop the service first. If interrupted at any point, the folder has its
previous content or all of the backup. A plain SQLite file, as earlier versions made them, contains only the database and no
authentication code, so nothing shows that it is unchanged. It is restored only with --unmarked-database.
`,
  },
  "root-key": {
    operands: "[FILE]",
    about: "give ROOT a new key, or the one in FILE, also while the service runs; the old one stops working",
    options: ["config"],
  },
  "rotate-key": {
    operands: "[FILE]",
    about: "encrypt the secrets of the database with a new key (rotate-key --help)",
    options: ["config"],
  },
  "begin-anew": {
    operands: "",
    about: "set aside the content of the data folder: the next start begins with an empty database",
    options: ["config"],
  },
  migrate: {
    operands: "WHAT",
    about: "move networks from bridges to SDN VNets and back, import an older installation (migrate --help)",
    options: ["config"],
  },
  subscription: {
    operands: "WHAT",
    about: "sign what you offer: subscription roles, QEMU packages, licences (subscription --help)",
    options: [],
  },
  openapi: { operands: "", about: "print the OpenAPI document as JSON", options: [] },
  docs: { operands: "", about: "write the generated pages of docs/", options: [] },
  demo: {
    operands: "",
    about: "deploy an example lab on the built-in simulator and serve it (npm run demo)",
    options: ["once", "speed", "port"],
  },
  help: { operands: "[COMMAND]", about: "print this help, or that of one command", options: [] },
  version: { operands: "", about: "print the version", options: [] },
} as const satisfies Readonly<Record<string, CommandWords>>

export type Command = keyof typeof commandWords
export const commands = Object.keys(commandWords) as readonly Command[]

/** What a person types to run it. */
export const usageOf = (command: Command): string => [command, commandWords[command].operands].filter(Boolean).join(" ")
