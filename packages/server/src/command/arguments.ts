import { similar } from "@rangewright/domain"
import { parseArgs, type ParseArgsOptionsConfig } from "node:util"
import { type Command, commands, commandWords, type Option, usageOf } from "./commands.ts"
import { insteadOf } from "./unknown-option.ts"

/** Commands that parse their own words and options. */
const readThemselves = ["migrate", "subscription", "rotate-key"] as const
type OwnReader = (typeof readThemselves)[number]

export interface Arguments {
  readonly command: Exclude<Command, OwnReader>
  /** For help: the command to describe. */
  readonly about?: Command
  readonly file: string | undefined
  readonly config: string | undefined
  readonly once: boolean
  readonly speed: number | undefined
  readonly port: number | undefined
  /** Where the passphrase for the key in a backup is. */
  readonly keyPassphrase: string | undefined
  /** The file with the key of a backup. */
  readonly secretKey: string | undefined
  readonly replace: boolean
  /** Whether a copy of the database without a mark may be restored. */
  readonly unmarkedDatabase: boolean
}

/** The command line is invalid; `more` follows the message. */
export class UsageError extends Error {
  readonly more: string
  constructor(message: string, more = "Try --help.\n") {
    super(message)
    this.more = more
  }
}

/** Parses words and options; fails with one clear line. `near`: the options that a mistyped one may have meant. */
export const parseWords = <const Options extends ParseArgsOptionsConfig>(
  argv: readonly string[],
  options: Options,
  near: readonly string[] = Object.keys(options),
) => {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true })
  } catch (error) {
    const { code, message = String(error) } = error as Partial<NodeJS.ErrnoException>
    const [, typed] = /'(-[^']*)'/u.exec(message) ?? []
    if (code !== "ERR_PARSE_ARGS_UNKNOWN_OPTION" || typed === undefined) throw new UsageError(message)
    throw new UsageError(
      `Unknown option ${typed}${insteadOf(
        typed,
        near.map((name) => `--${name}`),
      )}`,
    )
  }
}

const wholeNumber = (name: string, text: string | undefined, min: number, max: number): number | undefined => {
  if (text === undefined) return undefined
  const n = Number(text)
  if (!Number.isInteger(n) || n < min || n > max)
    throw new UsageError(`--${name} needs a whole number from ${min} to ${max}, not ${text}`)
  return n
}

const options = {
  config: { type: "string" },
  once: { type: "boolean", default: false },
  speed: { type: "string" },
  port: { type: "string" },
  "key-passphrase": { type: "string" },
  "secret-key": { type: "string" },
  replace: { type: "boolean", default: false },
  "unmarked-database": { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
  version: { type: "boolean", default: false },
} as const

const needsFile: readonly Command[] = ["backup", "restore"]
const mayHaveFile: readonly Command[] = [...needsFile, "root-key"]

const known = (word: string): Command => {
  const command = commands.find((one) => one === word)
  if (command !== undefined) return command
  const near = similar(word, commands)
  throw new UsageError(
    `Unknown command ${word}${near === undefined ? "." : `; did you mean ${near}?`} Commands: ${commands.join(", ")}`,
  )
}

/** The options of the command among the words, wherever it stands. */
const optionsOf = (argv: readonly string[]): readonly string[] => {
  const command = commands.find((one) => argv.includes(one)) ?? "serve"
  return [...commandWords[command].options, "help", "version"]
}

const isOwnReader = (command: Command): command is OwnReader => (readThemselves as readonly Command[]).includes(command)

const allOptions = [
  "config",
  "key-passphrase",
  "once",
  "port",
  "replace",
  "secret-key",
  "speed",
  "unmarked-database",
] as const satisfies readonly Option[]

const refuseForeignOptions = (command: Command, given: Readonly<Record<string, unknown>>): void => {
  const own: readonly Option[] = commandWords[command].options
  const foreign = allOptions.find((option) => given[option] !== undefined && given[option] !== false && !own.includes(option))
  if (foreign === undefined) return
  throw new UsageError(
    `${command} does not accept --${foreign}${insteadOf(
      `--${foreign}`,
      own.map((name) => `--${name}`),
    )}`,
  )
}

/** Parses the command line; fails with one clear line. */
export const readArguments = (argv: readonly string[]): Arguments => {
  const { values, positionals } = parseWords(argv, options, optionsOf(argv))
  const [first = "serve", file, ...rest] = positionals
  const common = {
    file,
    config: values.config,
    once: values.once,
    speed: undefined,
    port: undefined,
    keyPassphrase: values["key-passphrase"],
    secretKey: values["secret-key"],
    replace: values.replace,
    unmarkedDatabase: values["unmarked-database"],
  }
  if (values.version) return { ...common, command: "version" }
  const command = known(first)
  const about = values.help && positionals.length > 0 ? command : command === "help" ? file : undefined
  if (command === "help" || values.help)
    return { ...common, command: "help", ...(about === undefined ? {} : { about: known(about) }) }
  // these are recognised by their first word, before options are parsed
  if (isOwnReader(command)) throw new UsageError(`${command} must come before its options`)
  if (needsFile.includes(command) && file === undefined) throw new UsageError(`${command} needs a file: ${usageOf(command)}`)
  const surplus = mayHaveFile.includes(command) ? rest : file === undefined ? rest : [file, ...rest]
  if (surplus.length > 0) throw new UsageError(`${command} does not accept ${surplus.join(" ")}`)
  const numbers = {
    speed: wholeNumber("speed", values.speed, 1, 100_000),
    port: wholeNumber("port", values.port, 0, 65_535),
  }
  refuseForeignOptions(command, values)
  if (values["key-passphrase"] === "") throw new UsageError("--key-passphrase needs a file, or - for standard input")
  return { ...common, ...numbers, command }
}
