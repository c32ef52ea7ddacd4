import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { bindHypervisor, makeSimulator } from "../compose/hypervisor.ts"
import { useTemporaryFolder } from "../compose/temporary-folder.ts"
import { checkContent } from "../doctor/content-checks.ts"
import { checkInside } from "../doctor/inside-checks.ts"
import { checkHypervisor } from "../doctor/hypervisor-checks.ts"
import { renderFinding } from "../doctor/finding.ts"
import { checkSubscription } from "../doctor/subscription-checks.ts"
import { checkDataFolder } from "../doctor/local-checks.ts"
import type { Arguments } from "./arguments.ts"
import { configOf } from "./serve.ts"

/** Looks at everything the service needs and says what to do. Status 1 when something would keep it from working. */
export const doctor = async (args: Arguments): Promise<number> => {
  const config = configOf(args)
  if (existsSync(config.data)) useTemporaryFolder(resolve(config.data))
  const hypervisor = bindHypervisor(config, await makeSimulator(config))
  const findings = [
    ...checkDataFolder(config),
    ...(await Effect.runPromise(checkContent(config))),
    ...(await Effect.runPromise(checkInside(config))),
    ...(await Effect.runPromise(checkSubscription(config))),
    ...(await Effect.runPromise(checkHypervisor(config).pipe(Effect.provide(hypervisor.layer)))),
  ]
  if (hypervisor.kind === "simulator")
    process.stdout.write("The built-in simulator is the hypervisor: set proxmox_url to look at a real one.\n")
  for (const finding of findings) process.stdout.write(`${renderFinding(finding)}\n`)
  const failed = findings.filter((f) => f.level === "fail").length
  process.stdout.write(failed === 0 ? "Nothing keeps the service from working.\n" : `${failed} to mend.\n`)
  return failed === 0 ? 0 : 1
}
