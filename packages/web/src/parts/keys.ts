/** Whether the key is meant for a field, an editor or a screen, possibly in a shadow root, and is not a command to the page. */
export const isTyping = (event: KeyboardEvent): boolean => {
  const [target] = event.composedPath()
  return target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT|CANVAS)$/u.test(target.tagName))
}
