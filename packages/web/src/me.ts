import type { CapabilitiesAnswer, UserAnswer } from "@rangewright/application/wire"
import { computed, signal } from "@preact/signals"

/** The signed-in user; undefined until known. */
export const me = signal<UserAnswer | undefined>(undefined)

/** What the service supports and the user may do; known once `me` is. */
export const capabilities = signal<CapabilitiesAnswer | undefined>(undefined)

/** Groups that the user manages; administrators manage all, and this may be empty for them. */
export const managed = computed<readonly string[]>(() => capabilities.value?.rights.manages ?? [])

export type Theme = "auto" | "light" | "dark"
const kept = "rangewright-theme"

const read = (): Theme => {
  const value = localStorage.getItem(kept)
  return value === "light" || value === "dark" ? value : "auto"
}

export const theme = signal<Theme>(read())

export const applyTheme = (): void => {
  if (theme.value === "auto") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme.value
}

export const setTheme = (next: Theme): void => {
  theme.value = next
  localStorage.setItem(kept, next)
  applyTheme()
}
