import { similar } from "@rangewright/domain"
import { parseArgs, type ParseArgsOptionsConfig } from "node:util"
import { type Command, commands, commandWords, type Option, usageOf } from "./commands.ts"

/** Commands with words and options of their own, which they read themselves. */
const readThemselves = ["migrate", "subscription", "rotate-key"] as const
type OwnReader = (typeof readThemselves)[number]

export interface Arguments {
  readonly command: Exclude<Command, OwnReader>
  /** For help: the command that it is about. */
  readonly about?: Command
  readonly file: string | undefined
  readonly config: string | undefined
  readonly once: boolean
  readonly speed: number | undefined
  readonly port: number | undefined
}

/** What was typed cannot be understood. */
export class UsageError extends Error {}

/** Words and options as they were typed; fails with one clear line. */
export const parseWords = <const Options extends ParseArgsOptionsConfig>(argv: readonly string[], options: Options) => {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true })
  } catch (error) {
    const { code, message = String(error) } = error as Partial<NodeJS.ErrnoException>
    const [, typed] = /'(-[^']*)'/u.exec(message) ?? []
    if (code !== "ERR_PARSE_ARGS_UNKNOWN_OPTION" || typed === undefined) throw new UsageError(message)
    const names = Object.keys(options).map((name) => `--${name}`)
    const near = similar(typed, names)
    throw new UsageError(`There is no option ${typed}${near === undefined ? "" : `; did you mean ${near}?`}`)
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
    `There is no command ${word}${near === undefined ? "." : `; did you mean ${near}?`} Commands: ${commands.join(", ")}`,
  )
}

const isOwnReader = (command: Command): command is OwnReader => (readThemselves as readonly Command[]).includes(command)

const refuseForeignOptions = (command: Command, given: Readonly<Record<string, unknown>>): void => {
  const own: readonly Option[] = commandWords[command].options
  const foreign = (["config", "once", "speed", "port"] as const).find(
    (option) => given[option] !== undefined && given[option] !== false && !own.includes(option),
  )
  if (foreign === undefined) return
  const instead = foreign === "port" ? "; the service's port is the key port (RANGEWRIGHT_PORT)" : ""
  throw new UsageError(`${command} takes no --${foreign}${instead}. See ${command} --help`)
}

/** Reads the command line; fails with one clear line. */
export const readArguments = (argv: readonly string[]): Arguments => {
  const { values, positionals } = parseWords(argv, options)
  const [first = "serve", file, ...rest] = positionals
  const common = { file, config: values.config, once: values.once, speed: undefined, port: undefined }
  if (values.version) return { ...common, command: "version" }
  const command = known(first)
  const about = values.help && positionals.length > 0 ? command : command === "help" ? file : undefined
  if (command === "help" || values.help)
    return { ...common, command: "help", ...(about === undefined ? {} : { about: known(about) }) }
  // they are told by their first word, before options are read
  if (isOwnReader(command)) throw new UsageError(`${command} must stand before its options`)
  if (needsFile.includes(command) && file === undefined) throw new UsageError(`${command} needs a file: ${usageOf(command)}`)
  const surplus = mayHaveFile.includes(command) ? rest : file === undefined ? rest : [file, ...rest]
  if (surplus.length > 0) throw new UsageError(`${command} takes no ${surplus.join(" ")}`)
  const numbers = {
    speed: wholeNumber("speed", values.speed, 1, 100_000),
    port: wholeNumber("port", values.port, 0, 65_535),
  }
  refuseForeignOptions(command, values)
  return { ...common, ...numbers, command }
}
