/** Milliseconds between two updates of continuous data: nobody reads faster. */
const pace = 100

/** Acts soon after it is called, and at most ten times a second however often it is called. */
export const throttled = (act: () => void): (() => void) => {
  let last = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  return () => {
    timer ??= setTimeout(
      () => {
        timer = undefined
        last = performance.now()
        act()
      },
      Math.max(0, last + pace - performance.now()),
    )
  }
}
