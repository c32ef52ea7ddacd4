import type { Range, RunHead } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useEffect, useId, useRef } from "preact/hooks"
import { useRead } from "./api/resource.ts"
import { Dialog, Text } from "./parts/parts.tsx"
import { useRanges } from "./range/ranges.ts"
import { kindOf, shortName } from "./range/sentence.ts"
import { navigate } from "./router.ts"
import { useSubjectName } from "./run/subject.ts"
import { t } from "./texts.ts"

export interface Target {
  readonly kind: keyof typeof t.palette.kinds
  readonly text: string
  /** Other words by which it is found. */
  readonly more: string
  /** Below `/ui`. */
  readonly path: string
}

const most = 12
const path = (...parts: readonly string[]): string => `/${parts.map(encodeURIComponent).join("/")}`

const targetsOf = (ranges: readonly Range[], runs: readonly RunHead[], nameOf: (run: RunHead) => string): readonly Target[] => [
  ...ranges.map(({ rangeID, name }): Target => ({ kind: "range", text: rangeID, more: name, path: path("ranges", rangeID) })),
  ...ranges.flatMap(({ rangeID, VMs }) =>
    VMs.map(({ name, ip, proxmoxID }): Target => ({
      kind: "machine",
      text: shortName(rangeID, name),
      more: ip === "null" ? rangeID : `${rangeID} ${ip}`,
      path: path("ranges", rangeID, "machines", String(proxmoxID)),
    })),
  ),
  ...runs.map((run): Target => ({
    kind: "run",
    text: kindOf(run.kind),
    more: `${nameOf(run)} ${run.id}`,
    path: path("runs", run.id),
  })),
]

/** Jumps to anything by name. `pages`: those of the menu. */
export const Palette = ({ pages, onClose }: { readonly pages: readonly Target[]; readonly onClose: () => void }) => {
  const ranges = useRanges()
  const runs = useRead<readonly RunHead[]>("/runs", { limit: 50 })
  const nameOf = useSubjectName(runs.data.value ?? [])
  const query = useSignal("")
  const at = useSignal(0)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  useEffect(() => field.current?.focus(), [])
  const words = query.value.toLowerCase().split(/\s+/u).filter(Boolean)
  const found = [...pages, ...targetsOf(ranges.data.value ?? [], runs.data.value ?? [], nameOf)]
    .filter(({ kind, text, more }) => {
      const whole = `${t.palette.kinds[kind]} ${text} ${more}`.toLowerCase()
      return words.every((word) => whole.includes(word))
    })
    .slice(0, most)
  const chosen = Math.min(at.value, found.length - 1)
  const go = (target: Target | undefined): void => {
    if (target === undefined) return
    onClose()
    navigate(target.path)
  }
  const onKey = (event: KeyboardEvent): void => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (by !== undefined && found.length > 0) at.value = (chosen + by + found.length) % found.length
    else if (event.key === "Enter") go(found[chosen])
    else return
    event.preventDefault()
  }
  return (
    <Dialog title={t.palette.title} open onClose={onClose}>
      <input
        ref={field}
        class="palette-field"
        role="combobox"
        aria-label={t.palette.label}
        placeholder={t.palette.label}
        aria-expanded={found.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={found.length > 0 ? `${id}-${chosen}` : undefined}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          query.value = currentTarget.value
          at.value = 0
        }}
        onKeyDown={onKey}
      />
      <div class="palette" role="listbox" id={`${id}-list`} aria-label={t.results}>
        {found.map((target, index) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys are the field's
          <div
            key={target.path}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => go(target)}
          >
            <strong>
              <Text>{target.text}</Text>
            </strong>
            <span class="muted">
              <Text>{target.more}</Text>
            </span>
            <span class="kind">{t.palette.kinds[target.kind]}</span>
          </div>
        ))}
      </div>
      <p class="hint" role="status">
        {found.length === 0 ? t.palette.none : t.palette.hint}
      </p>
    </Dialog>
  )
}
