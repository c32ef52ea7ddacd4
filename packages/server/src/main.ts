import { isFault } from "@rangewright/domain"
import { readArguments, UsageError } from "./command/arguments.ts"
import { helpOf, helpText } from "./command/help.ts"
import { version } from "./version.ts"

/** Runs a command; returns the exit status. */
const run = async (argv: readonly string[]): Promise<number> => {
  // these parse their own words and options
  if (argv[0] === "subscription") return (await import("./command/subscription.ts")).subscription(argv.slice(1))
  if (argv[0] === "migrate") return (await import("./command/migrate/migrate.ts")).migrate(argv.slice(1))
  if (argv[0] === "rotate-key") return (await import("./command/rotate-key.ts")).rotateKey(argv.slice(1))
  const args = readArguments(argv)
  switch (args.command) {
    case "help":
      if (args.about === "subscription" || args.about === "migrate" || args.about === "rotate-key")
        return run([args.about, "--help"])
      process.stdout.write(args.about === undefined || args.about === "help" ? helpText : helpOf(args.about))
      return 0
    case "version":
      process.stdout.write(`${version}\n`)
      return 0
    case "openapi":
      return (await import("./command/openapi.ts")).printOpenApi()
    case "docs":
      return (await import("./command/docs.ts")).writeDocuments()
    case "serve":
      return (await import("./command/serve.ts")).serve(args)
    case "demo":
      return (await import("./command/demo.ts")).demo(args)
    case "doctor":
      return (await import("./command/doctor.ts")).doctor(args)
    case "backup":
      return (await import("./command/backup.ts")).backup(args)
    case "begin-anew":
      return (await import("./command/begin-anew.ts")).beginAnew(args)
    case "root-key":
      return (await import("./command/root-key.ts")).rootKey(args)
    case "restore":
      return (await import("./command/restore.ts")).restore(args)
  }
}

// the reader may stop reading, as head does: the command continues
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error
})

try {
  process.exitCode = await run(process.argv.slice(2))
} catch (error) {
  if (error instanceof UsageError) {
    process.stderr.write(`${error.message}\n${error.more}`)
    process.exitCode = 2
  } else {
    // hints of an unavailable service are meant for callers of a running one
    const hint = isFault(error) && error.kind !== "unavailable" && error.hint !== undefined ? `${error.hint}\n` : ""
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${hint}`)
    process.exitCode = 1
  }
}
