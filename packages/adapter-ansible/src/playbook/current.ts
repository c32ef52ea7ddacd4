import { traceOf } from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import * as Semaphore from "effect/Semaphore"
import { type AutomationAvailability, automationAvailability, automationFindings } from "./availability.ts"
import { type PlaybookOptions, settingsOf } from "./options.ts"

const tell = (found: AutomationAvailability, windows: "winrm" | "psrp"): Effect.Effect<void> =>
  Effect.forEach(
    automationFindings(found, windows),
    ({ level, what, detail, hint }) =>
      level === "ok"
        ? Effect.logDebug(`${what}: ${detail}`)
        : Effect.logWarning(`${what}: ${detail}${hint === undefined ? "" : `. ${hint}`}`),
    { discard: true },
  )

/**
 * What the host has, also written to the log. Returns the previous result as long as none of the files it was read from changed and the
 * sandbox works; otherwise the host is checked again, so that installations and removals take effect without a restart.
 */
export const currentAvailability = (options: PlaybookOptions): Effect.Effect<AutomationAvailability> => {
  const { windows } = settingsOf(options)
  const look = Effect.gen(function* () {
    const found = yield* automationAvailability(options)
    yield* tell(found, windows)
    return { found, trace: yield* Effect.promise(() => traceOf(found.foundBy)) }
  })
  let known: Effect.Success<typeof look> | undefined
  const turn = Semaphore.makeUnsafe(1)
  const isCurrent = Effect.fnUntraced(function* ({ found: { host, foundBy }, trace }: Effect.Success<typeof look>) {
    const settled = host.sandbox.works || host.choice === "off"
    return settled && (yield* Effect.promise(() => traceOf(foundBy))) === trace
  })
  return turn.withPermits(1)(
    Effect.gen(function* () {
      if (known === undefined || !(yield* isCurrent(known))) known = yield* look
      return known.found
    }),
  )
}
