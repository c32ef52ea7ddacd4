import type { DisguiseOutcome, MachineAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { change } from "../api/client.ts"
import { capabilities } from "../me.ts"
import { submitted } from "../parts/form.ts"
import { ConfirmButton, Dialog, type Doing, Field, FormEnd, Outcome, Text, useDoing } from "../parts/parts.tsx"
import { requireAll } from "../parts/refused-items.ts"
import { windows as texts } from "../texts/windows.ts"

/** Manufacturers that the service has tables for. */
const vendors = ["Dell", "HP", "Lenovo", "Google", "IBM"] as const satisfies readonly MachineAnswer["disguise"][]

interface Props {
  readonly machine: MachineAnswer
  /** Its name on the range's pages. */
  readonly name: string
  readonly doing: Doing
}

/** Requests a change of this one machine; `done`: the message afterwards. */
const changeOne = async (
  path: string,
  { machine: { rangeID, vmid } }: Props,
  done: string,
  body: object = {},
): Promise<string> => {
  const { errors, warnings = [] } = await change<DisguiseOutcome>("POST", path, { rangeID }, { vmIDs: String(vmid), ...body })
  requireAll(errors, warnings.join("\n") || undefined)
  return [done, ...warnings].join("\n")
}

const Activate = (props: Props) => {
  const open = useSignal(false)
  const { name, doing } = props
  const close = (): void => void (open.value = false)
  const submit = (event: SubmitEvent): void => {
    const productKey = submitted(event).text("productKey").trim()
    void doing
      .run(() => changeOne("/kms/license", props, texts.activated, productKey === "" ? {} : { productKey }))
      .then((done) => done && close())
  }
  return (
    <>
      <button type="button" disabled={doing.busy} onClick={() => (open.value = true)}>
        {texts.activate}
      </button>
      <Dialog title={texts.activateTitle(name)} open={open.value} onClose={close}>
        <form onSubmit={submit}>
          <p>{texts.activateText}</p>
          <Field label={texts.productKey} hint={texts.productKeyHint}>
            {(ids) => <input {...ids} name="productKey" maxLength={64} autocomplete="off" spellcheck={false} />}
          </Field>
          <FormEnd doing={doing} action={texts.activateAction} onClose={close} />
        </form>
      </Dialog>
    </>
  )
}

const Disguise = (props: Props) => {
  const open = useSignal(false)
  const { name, doing } = props
  const close = (): void => void (open.value = false)
  const submit = (event: SubmitEvent): void => {
    const { text, has } = submitted(event)
    const flags = Object.fromEntries((["dropFiles", "browserData", "persist"] as const).map((flag) => [flag, has(flag)]))
    const words = Object.fromEntries(
      (["vendor", "registeredOwner", "registeredOrganization"] as const)
        .map((field) => [field, text(field).trim()] as const)
        .filter(([, value]) => value !== ""),
    )
    void doing
      .run(() => changeOne("/antisandbox/enable", props, texts.disguised, { ...words, ...flags }))
      .then((done) => done && close())
  }
  return (
    <>
      <button type="button" disabled={doing.busy} onClick={() => (open.value = true)}>
        {texts.disguise}
      </button>
      <Dialog title={texts.disguiseTitle(name)} open={open.value} onClose={close}>
        <form onSubmit={submit}>
          <p>{texts.disguiseText}</p>
          <Field label={texts.vendor}>
            {(ids) => (
              <select {...ids} name="vendor">
                {vendors.map((vendor) => (
                  <option key={vendor}>{vendor}</option>
                ))}
              </select>
            )}
          </Field>
          <Field label={texts.owner} hint={texts.optional}>
            {(ids) => <input {...ids} name="registeredOwner" maxLength={63} autocomplete="off" />}
          </Field>
          <Field label={texts.organization} hint={texts.optional}>
            {(ids) => <input {...ids} name="registeredOrganization" maxLength={63} autocomplete="off" />}
          </Field>
          {(["dropFiles", "browserData", "persist"] as const).map((flag) => (
            <label key={flag} class="check">
              <input type="checkbox" name={flag} defaultChecked={flag === "persist"} />
              {texts[flag]}
            </label>
          ))}
          <FormEnd doing={doing} action={texts.disguiseAction} onClose={close} />
        </form>
      </Dialog>
    </>
  )
}

/** Actions for a Windows machine; nothing when the service supports none. */
export const Windows = ({ machine, name }: Omit<Props, "doing">) => {
  const doing = useDoing()
  const { disguise } = machine
  const { kms = false, antiSandbox = false } = capabilities.value?.features ?? {}
  if (!kms && !antiSandbox) return null
  const props = { machine, name, doing }
  return (
    <section class="card" aria-labelledby="windows">
      <h2 id="windows">{texts.title}</h2>
      {disguise === undefined ? null : (
        <dl class="facts">
          <dt>{texts.disguisedAs}</dt>
          <dd>
            <Text>{disguise}</Text>
          </dd>
        </dl>
      )}
      <div class="actions">
        {kms ? <Activate {...props} /> : null}
        {antiSandbox ? <Disguise {...props} /> : null}
        {antiSandbox && disguise !== undefined ? (
          <ConfirmButton
            disabled={doing.busy}
            question={{
              title: texts.revealTitle(name),
              text: texts.revealText,
              action: texts.reveal,
              danger: true,
              act: () => void doing.run(() => changeOne("/antisandbox/disable", props, texts.revealed)),
            }}
          >
            {texts.reveal}
          </ConfirmButton>
        ) : null}
      </div>
      <Outcome doing={doing} />
    </section>
  )
}
