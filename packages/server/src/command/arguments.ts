import { parseArgs, type ParseArgsOptionsConfig } from "node:util"

export const commands = [
  "serve",
  "doctor",
  "backup",
  "restore",
  "begin-anew",
  "root-key",
  "openapi",
  "docs",
  "demo",
  "help",
  "version",
] as const
export type Command = (typeof commands)[number]

export interface Arguments {
  readonly command: Command
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
    throw new UsageError(error instanceof Error ? error.message : String(error))
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

/** Reads the command line; fails with one clear line. */
export const readArguments = (argv: readonly string[]): Arguments => {
  const { values, positionals } = parseWords(argv, options)
  const [first = "serve", file, ...rest] = positionals
  const command = values.help ? "help" : values.version ? "version" : commands.find((c) => c === first)
  if (command === undefined) throw new UsageError(`There is no command ${first}. Commands: ${commands.join(", ")}`)
  if (needsFile.includes(command) && file === undefined) throw new UsageError(`${command} needs a file: ${command} FILE`)
  const surplus = mayHaveFile.includes(command) ? rest : file === undefined ? rest : [file, ...rest]
  if (surplus.length > 0 && command !== "help") throw new UsageError(`${command} takes no ${surplus.join(" ")}`)
  return {
    command,
    file,
    config: values.config,
    once: values.once,
    speed: wholeNumber("speed", values.speed, 1, 100_000),
    port: wholeNumber("port", values.port, 0, 65_535),
  }
}
