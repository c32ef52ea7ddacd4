import { useSignal } from "@preact/signals"
import { change } from "../../api/client.ts"
import { isOver, notices, readNotices } from "../../notices.tsx"
import { shortTime } from "../../parts/format.ts"
import { submitted } from "../../parts/form.ts"
import { ConfirmButton, Dialog, Field, FormEnd, Outcome, Text, useDoing } from "../../parts/parts.tsx"
import { classes as texts } from "../../texts/classes.ts"

const durations = ["15m", "1h", "4h", "24h", "168h"] as const

/** Form to show the members of the class a notice for a while. */
export const TellClass = ({ group }: { readonly group: string }) => {
  const isOpen = useSignal(false)
  const doing = useDoing()
  const close = (): void => void (isOpen.value = false)
  const send = (event: SubmitEvent): void => {
    const { text } = submitted(event)
    void doing
      .run(async () => {
        await change(
          "PUT",
          "/groups/{groupName}/notice",
          { groupName: group },
          { text: text("text"), duration: text("duration") },
        )
        await readNotices()
        return undefined
      })
      .then((done) => done && close())
  }
  return (
    <>
      <button type="button" onClick={() => (isOpen.value = true)}>
        {texts.tell}
      </button>
      <Dialog title={texts.tellTitle(group)} open={isOpen.value} onClose={close}>
        <form onSubmit={send}>
          <Field label={texts.tellText} hint={texts.tellHint}>
            {(ids) => <textarea {...ids} name="text" required maxLength={500} rows={3} />}
          </Field>
          <Field label={texts.tellFor}>
            {(ids) => (
              <select {...ids} name="duration">
                {durations.map((duration) => (
                  <option key={duration} value={duration} selected={duration === "1h"}>
                    {texts.durations[duration]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <FormEnd doing={doing} action={texts.tellAction} onClose={close} />
        </form>
      </Dialog>
    </>
  )
}

/** The current notice of the class. */
export const ClassNotice = ({ group }: { readonly group: string }) => {
  const doing = useDoing()
  const notice = notices.value.find((one) => one.groupName === group && !isOver(one))
  const takeDown = (): void =>
    void doing.run(async () => {
      await change("DELETE", "/groups/{groupName}/notice", { groupName: group })
      await readNotices()
      return texts.takenDown
    })
  return (
    <>
      {notice === undefined ? null : (
        <section class="card" aria-label={texts.told}>
          <div class="summary">
            <p>
              {texts.toldUntil(shortTime(new Date(notice.until)))} <Text>{notice.text}</Text>
            </p>
            <div class="actions">
              <ConfirmButton
                class="small"
                disabled={doing.busy}
                question={{
                  title: texts.takeDownTitle(group),
                  text: texts.takeDownText,
                  action: texts.takeDown,
                  act: takeDown,
                }}
              >
                {texts.takeDown}
              </ConfirmButton>
            </div>
          </div>
        </section>
      )}
      <Outcome doing={doing} />
    </>
  )
}
