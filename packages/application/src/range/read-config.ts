import {
  type ConfigIssue,
  configurationError,
  Failed,
  InvalidInput,
  type ParsedRangeConfig,
  parseRangeConfig,
  type RangeConfig,
  type RangeDefaults,
  type RangeId,
} from "@rangewright/domain"
import { Ranges, type StorageFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { longWork } from "../operation/long-work.ts"
import { Settings, type SettingsShape } from "../settings.ts"

const read = new WeakMap<SettingsShape, Result.Result<RangeDefaults, readonly ConfigIssue[]>>()

/**
 * The defaults for configurations of this installation: the operator's, written and checked like the `defaults` of a range configuration.
 */
export const serverDefaults: Effect.Effect<RangeDefaults, Failed, Settings> = Effect.flatMap(Settings, (settings) => {
  const known =
    read.get(settings) ??
    Result.map(parseRangeConfig(JSON.stringify({ ludus: [], defaults: settings.rangeDefaults })), ({ config }) => config.defaults)
  read.set(settings, known)
  return Result.isSuccess(known)
    ? Effect.succeed(known.success)
    : Effect.fail(
        new Failed({
          what: `Cannot read range configurations: the range defaults in the service's configuration are wrong: ${configurationError(known.failure)}`,
          hint: "An operator must fix the setting.",
        }),
      )
})

/** Reads the text of a configuration under this installation's defaults. */
export const readRangeConfig = (
  text: string,
): Effect.Effect<Result.Result<ParsedRangeConfig, readonly ConfigIssue[]>, Failed, Settings> =>
  Effect.flatMap(serverDefaults, (defaults) => longWork(() => parseRangeConfig(text, { defaults })))

/** The refusal of a configuration with all its errors; warnings do not count. */
export const refusedConfig = (issues: readonly ConfigIssue[]): InvalidInput => {
  const errors = issues.filter(({ severity }) => severity === "error")
  return new InvalidInput({
    what: configurationError(errors),
    issues: errors.map(({ path, line, column, message, allowed }) => ({
      path,
      line,
      column,
      message,
      ...(allowed === undefined ? {} : { allowed }),
    })),
  })
}

/** The deployed configuration; undefined when there is none, or none that today's rules accept. */
export const deployedConfig = (
  rangeId: RangeId,
): Effect.Effect<RangeConfig | undefined, Failed | StorageFault, Ranges | Settings> =>
  Effect.gen(function* () {
    const ranges = yield* Ranges
    const text = yield* ranges.deployedConfig(rangeId)
    if (text === undefined) return undefined
    const parsed = yield* readRangeConfig(text)
    return Result.isSuccess(parsed) ? parsed.success.config : undefined
  })
