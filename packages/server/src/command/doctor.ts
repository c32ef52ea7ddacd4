import { existsSync } from "node:fs"
import { resolve } from "node:path"
import { bindHypervisor, makeSimulator } from "../compose/hypervisor.ts"
import { useTemporaryFolder } from "../compose/temporary-folder.ts"
import { renderFinding } from "../doctor/finding.ts"
import { inspect } from "../doctor/inspect.ts"
import type { Arguments } from "./arguments.ts"
import { databaseFile, withStore } from "./open-store.ts"
import { configOf } from "./serve.ts"

/** Status 1 when something would keep the service from working. */
export const doctor = async (args: Arguments): Promise<number> => {
  const config = configOf(args)
  if (existsSync(config.data)) useTemporaryFolder(resolve(config.data))
  const hypervisor = bindHypervisor(config, await makeSimulator(config))
  const file = databaseFile(config)
  const isThere = file === undefined || existsSync(file)
  const findings = await inspect(config, {
    hypervisor,
    inStore: isThere ? (effect) => withStore(config, effect, { look: true }) : undefined,
  })
  if (hypervisor.kind === "simulator")
    process.stdout.write("The built-in simulator is the hypervisor: set proxmox_url to check a real one.\n")
  for (const finding of findings) process.stdout.write(`${renderFinding(finding)}\n`)
  const failed = findings.filter((f) => f.level === "fail").length
  const warned = findings.filter((f) => f.level === "warn").length
  const withWarnings = warned === 0 ? "" : `, with ${warned === 1 ? "1 warning" : `${warned} warnings`}`
  process.stdout.write(
    `${failed === 0 ? "All checks passed" : failed === 1 ? "1 check failed" : `${failed} checks failed`}${withWarnings}.\n`,
  )
  return failed === 0 ? 0 : 1
}
