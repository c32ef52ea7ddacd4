import { useSignal } from "@preact/signals"
import { useId, useLayoutEffect, useRef } from "preact/hooks"
import { t } from "../texts.ts"

/** A secret that is shown once: hidden until somebody reveals it, or copied unseen. */
export const Secret = ({ label, value }: { readonly label: string; readonly value: string }) => {
  const id = useId()
  const isShown = useSignal(false)
  const isCopied = useSignal(false)
  const field = useRef<HTMLInputElement>(null)
  // the form or button that requested it may be gone, and the focus with it
  useLayoutEffect(() => field.current?.focus(), [])
  const input = { ref: field, id, class: "mono", value, readOnly: true, autocomplete: "off" } as const
  return (
    <div class="field secret">
      <label for={id}>{label}</label>
      <div class="actions">
        {isShown.value ? <input {...input} type="text" /> : <input {...input} type="password" />}
        <button type="button" onClick={() => (isShown.value = !isShown.value)}>
          {isShown.value ? t.hide : t.show}
        </button>
        <button type="button" onClick={() => void navigator.clipboard.writeText(value).then(() => (isCopied.value = true))}>
          {isCopied.value ? t.copied : t.copy}
        </button>
      </div>
    </div>
  )
}
