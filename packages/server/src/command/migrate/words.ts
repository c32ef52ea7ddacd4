import { parseWords, UsageError } from "../arguments.ts"

export const helpText = `Move the networks of ranges between Linux bridges and SDN VNets, or import an older installation

usage: npm start -- migrate WHAT [options]

  sdn               move every network to VNets; joins a running migration
  rollback          return the networks to the bridges that a migration has recorded
  status            whether a migration is needed, and what it would need
  report            the network cards of every machine before the migration and now
  sqlite            import users, keys and ranges of a first-generation installation

options:
  --dry-run         sdn, rollback, sqlite: say what would be done, and change nothing
  --create-zone     sdn: create the VXLAN zone if it is missing, with all nodes as peers
  --yes, -y         sdn, rollback: do not ask; needed without a terminal
  --json            print JSON, as the HTTP interface answers
  --config FILE     configuration, YAML (default: RANGEWRIGHT_CONFIG, or ./rangewright.yml if it exists)
  --help, -h        this help

It works with or without a running service. Only the built-in simulator is different: it runs inside the service, so stop the service
first, or use its HTTP interface. Ctrl-C stops this command, not the migration: a running service continues it, otherwise the service at
its next start, or this command when you run it again.

exit status:
  0    done, or nothing to do; status: no migration is needed; --dry-run: nothing prevents it
  1    it failed, or something prevents it: the text says what, and what was changed
  2    the command line cannot be understood
  3    status: a migration is needed
  130  stopped by Ctrl-C
`

export const exit = { done: 0, failed: 1, needed: 3, interrupted: 130 } as const

const subjects = ["sdn", "rollback", "status", "report", "sqlite"] as const
export type Subject = (typeof subjects)[number]

/** What was asked for. */
export interface Options {
  readonly what: Subject
  readonly dryRun: boolean
  readonly createZone: boolean
  readonly yes: boolean
  readonly json: boolean
  readonly config: string | undefined
}

const options = {
  "dry-run": { type: "boolean", default: false },
  "create-zone": { type: "boolean", default: false },
  yes: { type: "boolean", short: "y", default: false },
  json: { type: "boolean", default: false },
  config: { type: "string" },
  help: { type: "boolean", short: "h", default: false },
} as const

/** The migrations for which each option is valid. */
const fits: Readonly<Record<"dry-run" | "create-zone" | "yes", readonly Subject[]>> = {
  "dry-run": ["sdn", "rollback", "sqlite"],
  "create-zone": ["sdn"],
  yes: ["sdn", "rollback"],
}

/** Parses the words after `migrate`; undefined when help is requested. Fails with one clear line. */
export const readOptions = (argv: readonly string[]): Options | undefined => {
  const { values, positionals } = parseWords(argv, options)
  const [first, ...rest] = positionals
  if (values.help || first === "help") return undefined
  if (first === undefined) throw new UsageError(`migrate needs one of ${subjects.join(", ")}`, `\n${helpText}`)
  const what = subjects.find((subject) => subject === first)
  if (what === undefined) throw new UsageError(`Unknown command migrate ${first}. Commands: ${subjects.join(", ")}`)
  if (rest.length > 0) throw new UsageError(`migrate ${what} does not accept ${rest.join(" ")}`)
  for (const name of ["dry-run", "create-zone", "yes"] as const)
    if (values[name] && !fits[name].includes(what)) throw new UsageError(`migrate ${what} does not accept --${name}`)
  return {
    what,
    dryRun: values["dry-run"],
    createZone: values["create-zone"],
    yes: values.yes,
    json: values.json,
    config: values.config,
  }
}
