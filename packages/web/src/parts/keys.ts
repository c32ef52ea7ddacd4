/** The key is for a field, an editor or a screen, which may be in a shadow root, and no command to the page. */
export const isTyping = (event: KeyboardEvent): boolean => {
  const [target] = event.composedPath()
  return target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT|CANVAS)$/u.test(target.tagName))
}
