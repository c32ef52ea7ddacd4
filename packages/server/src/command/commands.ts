/** Options that a command takes besides `--help`. */
export type Option = "config" | "once" | "speed" | "port"

/** One command, as help tells it. */
interface CommandWords {
  /** What stands behind its name. */
  readonly operands: string
  readonly about: string
  readonly options: readonly Option[]
}

/** Every command: the one list from which help, checks and refusals are made. */
export const commandWords = {
  serve: { operands: "", about: "run the service (the default)", options: ["config"] },
  doctor: {
    operands: "",
    about: "check the hypervisor, the token's rights, storage, templates, network, clock and disk, and say what to do",
    options: ["config"],
  },
  backup: { operands: "FILE", about: "write a copy of the database to FILE, while the service runs", options: ["config"] },
  restore: {
    operands: "FILE",
    about: "put a copy back, also while the service runs, and where the database is gone",
    options: ["config"],
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
