import { existsSync } from "node:fs"
import { loadConfig, type Config } from "../config/config.ts"
import type { Arguments } from "./arguments.ts"

const usualFile = "rangewright.yml"

/** The configuration that this command line and environment mean. */
export const configOf = (args: Arguments): Config => configAt(args.config)

/** The same for a command with words of its own; `file`: what it was told. */
export const configAt = (file: string | undefined): Config =>
  loadConfig({
    file: file ?? process.env["RANGEWRIGHT_CONFIG"] ?? (existsSync(usualFile) ? usualFile : undefined),
    environment: process.env,
  })

/** Milliseconds in which signals are one: npm passes on the Ctrl-C that the terminal has sent to the process already. */
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

/** Whatever hangs, the process ends: what was acknowledged is durable, and a start goes on with the rest. */
const deadline = 9_500

export const serve = async (args: Arguments): Promise<number> => {
  const config = configOf(args)
  // loaded after the configuration was understood, so that a mistake in it is told at once
  const { startService } = await import("../compose/service.ts")
  const service = await startService(config)
  service.log.info(
    { urls: service.urls, certificate: service.fingerprint, rootKey: service.rootKeyFile, hypervisor: service.hypervisor.kind },
    "ready",
  )
  const signal = await untilTold()
  service.log.info({ signal }, "stopping")
  const forced = setTimeout(() => process.exit(0), deadline)
  await service.stop()
  // kept for what may still hold the process, but no reason to wait
  forced.unref()
  service.log.info("stopped")
  return 0
}
