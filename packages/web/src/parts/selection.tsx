import { useSignal } from "@preact/signals"

/** Selected rows, by key. */
export interface Selection {
  /** The selected ones among these, in their order. */
  readonly of: (keys: readonly string[]) => readonly string[]
  readonly has: (key: string) => boolean
  readonly toggle: (keys: readonly string[], on: boolean) => void
}

export const useSelection = (): Selection => {
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  return {
    of: (keys) => keys.filter((key) => chosen.value.has(key)),
    has: (key) => chosen.value.has(key),
    toggle: (keys, on) => {
      const next = new Set(chosen.peek())
      for (const key of keys) {
        if (on) next.add(key)
        else next.delete(key)
      }
      chosen.value = next
    },
  }
}

/** Checkbox for one row, or for all that are shown. */
export const Tick = ({
  selection,
  keys,
  label,
}: {
  readonly selection: Selection
  readonly keys: readonly string[]
  readonly label: string
}) => (
  <label class="tick">
    <input
      type="checkbox"
      aria-label={label}
      checked={keys.length > 0 && keys.every(selection.has)}
      onChange={({ currentTarget }) => selection.toggle(keys, currentTarget.checked)}
    />
  </label>
)
