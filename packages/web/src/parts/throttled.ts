/** Milliseconds between two looks at what comes without a pause: nobody reads faster. */
const pace = 100

/** Does it soon after it is asked for, and at most ten times a second however often that is. */
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
      last + pace - performance.now(),
    )
  }
}
