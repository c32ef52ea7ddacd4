import { repository } from "./program.ts"
import type { Environment } from "./service.ts"

/** Makes a program believe that it is this many seconds later. */
export const clockAhead = (seconds: number): Environment => ({
  NODE_OPTIONS: `--import=${repository}test/e2e/support/set-clock.ts`,
  TEST_CLOCK_AHEAD: String(seconds),
})
