/** The part of a log that a reader wants. `tail` overrides `cursor`. */
export interface LogWindow {
  /** The last so many lines; a newline at the very end begins one more, empty line. */
  readonly tail?: number | undefined
  /** From this line on, counted from 0: the cursor of an earlier response. */
  readonly cursor?: number | undefined
}

/**
 * A part of a log, and the cursor for what comes next: the number of newlines in the log. A cursor past the end gives the whole text, so
 * that followers survive when a new run begins a new log.
 */
export const readLog = (text: string, window: LogWindow): { readonly result: string; readonly cursor: number } => {
  const lines = text.split("\n")
  const cursor = lines.length - 1
  if (window.tail !== undefined) return { result: lines.slice(Math.max(0, lines.length - window.tail)).join("\n"), cursor }
  if (window.cursor === undefined || window.cursor >= lines.length) return { result: text, cursor }
  return { result: lines.slice(window.cursor).join("\n"), cursor }
}
