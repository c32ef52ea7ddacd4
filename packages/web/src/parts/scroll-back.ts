/** Milliseconds within which a page is expected to be as long as it was. */
const patience = 5_000

/** Scrolls to where a page was left, as soon as it is that long again, unless the user does something before. Returns what ends it. */
export const scrollBack = (to: number): (() => void) => {
  scrollTo(0, to)
  const over = new AbortController()
  const stop = (): void => over.abort()
  const observer = new ResizeObserver(() => {
    scrollTo(0, to)
    if (Math.abs(scrollY - to) < 2) stop()
  })
  const timer = setTimeout(stop, patience)
  over.signal.addEventListener("abort", () => {
    observer.disconnect()
    clearTimeout(timer)
  })
  for (const type of ["wheel", "touchstart", "pointerdown", "keydown"])
    addEventListener(type, stop, { passive: true, signal: over.signal })
  if (to > 0) observer.observe(document.body)
  else stop()
  return stop
}
