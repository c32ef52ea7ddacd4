/** What part of a log a reader wants. `tail` beats `cursor`. */
export interface LogWindow {
  /** The last so many lines; a newline at the very end begins one more, empty line. */
  readonly tail?: number | undefined
  /** From this line on, counted from 0: what an earlier answer gave. */
  readonly cursor?: number | undefined
}

/**
 * A part of a log, and the cursor that asks for what comes next: the number of its newlines. A cursor past the end gives the whole text,
 * by which followers survive that a new run begins a new log.
 */
export const readLog = (text: string, window: LogWindow): { readonly result: string; readonly cursor: number } => {
  const lines = text.split("\n")
  const cursor = lines.length - 1
  if (window.tail !== undefined) return { result: lines.slice(Math.max(0, lines.length - window.tail)).join("\n"), cursor }
  if (window.cursor === undefined || window.cursor >= lines.length) return { result: text, cursor }
  return { result: lines.slice(window.cursor).join("\n"), cursor }
}
