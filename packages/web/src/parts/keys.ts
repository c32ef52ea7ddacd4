import { signal } from "@preact/signals"

const kept = "rangewright-single-keys"

/** Whether single keys are commands: speech input and unsteady hands press them by accident. */
export const singleKeys = signal(localStorage.getItem(kept) !== "off")

export const setSingleKeys = (on: boolean): void => {
  singleKeys.value = on
  localStorage.setItem(kept, on ? "on" : "off")
}

/** Fields that take no letters. */
const isPressed = (target: HTMLElement): boolean =>
  target instanceof HTMLInputElement && /^(?:checkbox|radio|button)$/u.test(target.type)

/** Whether the key is meant for a field, an editor or a screen, possibly in a shadow root, and is not a command to the page. */
export const isTyping = (event: KeyboardEvent): boolean => {
  const [target] = event.composedPath()
  if (!(target instanceof HTMLElement) || isPressed(target)) return false
  return target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT|CANVAS)$/u.test(target.tagName)
}

/** Whether the key, pressed alone, may be a command to the page. */
export const mayCommand = (event: KeyboardEvent): boolean =>
  singleKeys.peek() &&
  !(event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) &&
  document.querySelector("dialog[open]") === null
