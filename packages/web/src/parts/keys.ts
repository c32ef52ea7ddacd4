/** Fields that take no letters. */
const isPressed = (target: HTMLElement): boolean =>
  target instanceof HTMLInputElement && /^(?:checkbox|radio|button)$/u.test(target.type)

/** Whether the key is meant for a field, an editor or a screen, possibly in a shadow root, and is not a command to the page. */
export const isTyping = (event: KeyboardEvent): boolean => {
  const [target] = event.composedPath()
  if (!(target instanceof HTMLElement) || isPressed(target)) return false
  return target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT|CANVAS)$/u.test(target.tagName)
}
