import { existsSync } from "node:fs"
import { flushCompileCache } from "node:module"
import { loadConfig, type Config } from "../config/config.ts"
import type { Arguments } from "./arguments.ts"

const usualFile = "rangewright.yml"

/** The configuration given by the command line and environment. */
export const configOf = (args: Arguments): Config => configAt(args.config)

/** The same for a command that parses its own words; `file` is its --config. */
export const configAt = (file: string | undefined): Config =>
  loadConfig({
    file: file ?? process.env["RANGEWRIGHT_CONFIG"] ?? (existsSync(usualFile) ? usualFile : undefined),
    environment: process.env,
  })

/** Milliseconds within which signals count as one: npm forwards a Ctrl-C that the terminal has already sent to the process. */
const onePress = 1_000

/** Resolves at the first SIGTERM or SIGINT; another one, a second or more later, ends the process at once. */
export const untilTold = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let told: number | undefined
    for (const signal of ["SIGTERM", "SIGINT"] as const)
      process.on(signal, () => {
        told ??= performance.now()
        if (performance.now() - told >= onePress) process.exit(1)
        resolve(signal)
      })
  })

/**
 * The process ends after this many milliseconds whatever hangs: what was acknowledged is durable, and the next start continues the rest.
 */
const deadline = 9_500

export const serve = async (args: Arguments): Promise<number> => {
  const config = configOf(args)
  // loaded after the configuration was read, so that a mistake in it is reported at once
  const { startService } = await import("../compose/service.ts")
  const service = await startService(config)
  service.log.info(
    { urls: service.urls, certificate: service.fingerprint, rootKey: service.rootKeyFile, hypervisor: service.hypervisor.kind },
    "ready",
  )
  // else only an orderly end writes the code compiled so far, and a service that is always killed compiles it at every start
  flushCompileCache()
  const signal = await untilTold()
  service.log.info({ signal }, "stopping")
  const forced = setTimeout(() => process.exit(0), deadline)
  await service.stop()
  // stays armed in case something keeps the process alive, but does not keep it alive itself
  forced.unref()
  service.log.info("stopped")
  return 0
}
