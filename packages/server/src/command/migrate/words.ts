import { parseWords, UsageError } from "../arguments.ts"

export const helpText = `Move the networks of ranges between Linux bridges and SDN VNets, or take an older installation over

usage: npm start -- migrate WHAT [options]

  sdn               move every network to VNets; joins a running migration
  rollback          bring the networks back to the bridges that a migration has recorded
  status            whether a migration is needed, and what it would need
  report            the network cards of every machine before the migration and now
  sqlite            take over users, keys and ranges of an installation of the first generation

options:
  --dry-run         sdn, rollback, sqlite: say what would be done, and change nothing
  --create-zone     sdn: make the VXLAN zone where it is missing, with all nodes as peers
  --yes, -y         sdn, rollback: do not ask; needed where nobody can answer
  --json            answer in JSON, as the HTTP interface does
  --config FILE     configuration, YAML (else RANGEWRIGHT_CONFIG, else ./rangewright.yml when it is there)
  --help, -h        this text

It works beside a running service and without one. Ctrl-C ends this command, not the migration: a running service continues it, otherwise
the service at its next start, or this command when it is run again.

exit status:
  0    done, or nothing to do; status: no migration is needed; --dry-run: nothing stands in the way
  1    it failed, or something stands in the way: the text says what, and what was changed
  2    the command line cannot be understood
  3    status: a migration is needed
  130  ended by Ctrl-C
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

/** Where an option means something. */
const fits: Readonly<Record<"dry-run" | "create-zone" | "yes", readonly Subject[]>> = {
  "dry-run": ["sdn", "rollback", "sqlite"],
  "create-zone": ["sdn"],
  yes: ["sdn", "rollback"],
}

/** Reads the words after `migrate`; undefined: help is wanted. Fails with one clear line. */
export const readOptions = (argv: readonly string[]): Options | undefined => {
  const { values, positionals } = parseWords(argv, options)
  const [first, ...rest] = positionals
  if (values.help || first === undefined || first === "help") return undefined
  const what = subjects.find((subject) => subject === first)
  if (what === undefined) throw new UsageError(`There is no command migrate ${first}. Commands: ${subjects.join(", ")}`)
  if (rest.length > 0) throw new UsageError(`migrate ${what} takes no ${rest.join(" ")}`)
  for (const name of ["dry-run", "create-zone", "yes"] as const)
    if (values[name] && !fits[name].includes(what)) throw new UsageError(`migrate ${what} takes no --${name}`)
  return {
    what,
    dryRun: values["dry-run"],
    createZone: values["create-zone"],
    yes: values.yes,
    json: values.json,
    config: values.config,
  }
}
