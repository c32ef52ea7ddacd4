import { configAt } from "../serve.ts"
import { failed } from "./failed.ts"
import { exit, helpText, readOptions } from "./words.ts"

/** The migrations of an installation: the same as over HTTP, but without an API key, for anyone with access to the data folder. */
export const migrate = async (argv: readonly string[]): Promise<number> => {
  const options = readOptions(argv)
  if (options === undefined) {
    process.stdout.write(helpText)
    return exit.done
  }
  const config = configAt(options.config)
  // loaded after parsing, so that a mistake in the arguments is reported at once
  const { openForCommand } = await import("../../compose/command-runtime.ts")
  const { perform } = await import("./perform.ts")
  const opened = await openForCommand(config)
  try {
    return await perform(opened.runtime, options)
  } catch (fault) {
    return failed(fault, options)
  } finally {
    await opened.close()
  }
}
