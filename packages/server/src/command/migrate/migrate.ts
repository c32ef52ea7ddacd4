import { configAt } from "../serve.ts"
import { failed } from "./failed.ts"
import { exit, helpText, readOptions } from "./words.ts"

/** The migrations of an installation: what the HTTP interface offers, without a key, for whoever has the data folder. */
export const migrate = async (argv: readonly string[]): Promise<number> => {
  const options = readOptions(argv)
  if (options === undefined) {
    process.stdout.write(helpText)
    return exit.done
  }
  const config = configAt(options.config)
  // loaded after what was typed was understood, so that a mistake in it is told at once
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
