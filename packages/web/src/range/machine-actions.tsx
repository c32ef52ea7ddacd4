import type { Machine } from "@rangewright/application/wire"
import type { Signal } from "@preact/signals"
import { useRef } from "preact/hooks"
import { changeText } from "../api/client.ts"
import { type Doing, type Question, State, useQuestion } from "../parts/parts.tsx"
import { removal } from "../texts/removal.ts"
import { t } from "../texts.ts"
import { shortName } from "./sentence.ts"

export type Verb = "poweron" | "shutdown" | "reboot" | "poweroff" | "delete"

export const Power = ({ machine }: { readonly machine: Machine }) =>
  machine.missingSince !== undefined ? (
    <State tone="warn">{t.power.missing}</State>
  ) : (
    <State tone={machine.poweredOn ? "ok" : "quiet"}>{machine.poweredOn ? t.power.on : t.power.off}</State>
  )

/** Actions for a machine, behind one button. */
export const More = ({
  name,
  machine,
  act,
}: {
  readonly name: string
  readonly machine: Machine
  readonly act: (verb: Verb) => void
}) => {
  const details = useRef<HTMLDetailsElement>(null)
  /** Moves the focus to an element that stays: a dialog returns it there. */
  const close = (): void => {
    if (details.current === null) return
    details.current.querySelector("summary")?.focus()
    details.current.open = false
  }
  const choose = (verb: Verb) => () => {
    close()
    act(verb)
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it has a summary, which is a button
    <details
      class="more"
      name="machine"
      ref={details}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        if (!(relatedTarget instanceof Node) || !currentTarget.contains(relatedTarget)) currentTarget.open = false
      }}
      onKeyDown={({ key }) => {
        if (key === "Escape") close()
      }}
    >
      <summary aria-label={t.range.actionsOf(name)}>{t.more}</summary>
      <div class="list">
        {machine.poweredOn ? (
          <>
            <button type="button" onClick={choose("shutdown")}>
              {t.range.stop}
            </button>
            <button type="button" onClick={choose("reboot")}>
              {t.range.reboot}
            </button>
            <button type="button" class="danger" onClick={choose("poweroff")}>
              {t.range.powerOff}
            </button>
          </>
        ) : (
          <button type="button" onClick={choose("poweron")}>
            {t.range.start}
          </button>
        )}
        <button type="button" class="danger" onClick={choose("delete")}>
          {removal.machine}
        </button>
      </div>
    </details>
  )
}

const questions: Partial<
  Record<Verb, { readonly title: (name: string) => string; readonly text: string; readonly action: string }>
> = {
  poweroff: { title: t.range.powerOffTitle, text: t.range.powerOffText, action: t.range.powerOff },
  reboot: { title: t.range.rebootTitle, text: t.range.rebootText, action: t.range.reboot },
  delete: { title: removal.machineTitle, text: removal.machineText, action: removal.machine },
}

/**
 * Changes the power of machines, and deletes them; asks before anything that may lose work. `to`: the page to show after one was deleted.
 */
export const useMachineActions = (
  doing: Doing,
  to?: string,
): {
  readonly question: Signal<Question | undefined>
  readonly act: (rangeID: string, machine: Machine) => (verb: Verb) => void
} => {
  const question = useQuestion()
  const act = (rangeID: string, machine: Machine) => (verb: Verb) => {
    const run = (): void =>
      void (verb === "delete"
        ? doing.run(() => changeText("DELETE", "/vm/{vmID}", { vmID: machine.proxmoxID }), to)
        : doing.run(() => changeText("PUT", `/range/${verb}`, { rangeID }, { machines: [machine.name] })))
    const asked = questions[verb]
    if (asked === undefined) return run()
    question.value = {
      title: asked.title(shortName(rangeID, machine.name)),
      text: asked.text,
      action: asked.action,
      danger: verb !== "reboot",
      act: run,
    }
  }
  return { question, act }
}
