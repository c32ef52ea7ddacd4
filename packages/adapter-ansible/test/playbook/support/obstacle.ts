import { automationAvailability } from "@rangewright/adapter-ansible"
import { hostsObstacle } from "@rangewright/pve-simulator"
import * as Effect from "effect/Effect"
import { existsSync } from "node:fs"

/** Further folders of collections, for hosts that have only ansible-core. */
export const collections = [process.env["RANGEWRIGHT_TEST_COLLECTIONS"] ?? ""].filter(
  (folder) => folder !== "" && existsSync(folder),
)

export const found = await Effect.runPromise(
  automationAvailability({ folder: "/nonexistent", library: "/nonexistent", collections }),
)
const hosts = await hostsObstacle()

/** Why the real tool cannot be run here on real hosts; undefined when it can. Such tests are skipped, and say so. */
export const obstacle: string | undefined = found.because ?? (found.sshpass ? undefined : "sshpass is not installed") ?? hosts

export const sandboxObstacle: string | undefined = obstacle ?? (found.host.sandbox.works ? undefined : found.host.sandbox.because)

/** For the title of a suite. */
export const skipNote = (because: string | undefined): string => (because === undefined ? "" : ` (skipped: ${because})`)

/** A run of the tool takes a second or two of one core; on a busy machine that can be minutes. */
export const patience = 300_000
