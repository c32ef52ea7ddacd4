import { type Command, commands, commandWords, type CommandWords, type Option, usageOf } from "./commands.ts"

const column = 24
const line = (left: string, right: string): string => `  ${left.padEnd(column)}${right}`

const options: Readonly<Record<Option | "help", string>> = {
  "key-passphrase": line(
    "--key-passphrase FILE",
    "read the passphrase from FILE (mode 0600; - is standard input): backup includes the key, encrypted with it; restore decrypts it",
  ),
  "secret-key": line("--secret-key FILE", "restore: the file that holds the key of the backup"),
  replace: line("--replace", "restore: if the data folder is in use, set aside its content"),
  "unmarked-database": line("--unmarked-database", "restore: accept a plain SQLite file, which nothing shows to be unchanged"),
  config: line("--config FILE", "configuration, YAML (default: RANGEWRIGHT_CONFIG, or ./rangewright.yml if it exists)"),
  once: line("--once", "demo: exit after the deploy, with status 0 only if it succeeded"),
  speed: line("--speed N", "demo: how many times faster than real time the simulator runs (default 60)"),
  port: line("--port N", "demo: port to serve on (default 8080, or a free one)"),
  help: line("--help, -h", "this help; after a command, the help of that command"),
}

const keysNote = "Every key of the configuration, with its environment variable, is in docs/configuration.md."

/** What `--help` prints. */
export const helpText = [
  "Rangewright: lab ranges on Proxmox VE",
  "",
  "usage: npm start -- [command] [options]",
  "",
  "commands:",
  ...commands.map((command) => line(usageOf(command), commandWords[command].about)),
  "",
  "options:",
  ...Object.values(options),
  "",
  keysNote,
  "",
].join("\n")

/** What `COMMAND --help` prints. */
export const helpOf = (command: Command): string => {
  const words: CommandWords = commandWords[command]
  const { about, options: own, more } = words
  const taken: readonly Option[] = own
  return [
    // the list of all commands points to this help
    `${command}: ${about.replace(` (${command} --help)`, "")}`,
    "",
    `usage: npm start -- ${usageOf(command)}${taken.length === 0 ? "" : " [options]"}`,
    "",
    "options:",
    ...taken.map((option) => options[option].replace(`${command}: `, "")),
    line("--help, -h", "this help"),
    ...(more === undefined ? [] : ["", more.trimEnd()]),
    ...(taken.includes("config") ? ["", keysNote] : []),
    "",
  ].join("\n")
}
