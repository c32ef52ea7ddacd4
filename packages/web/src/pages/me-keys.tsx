import type { ScopedKeyAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { ask, changeText } from "../api/client.ts"
import { refresh, useRead } from "../api/resource.ts"
import { hold, release, renewed } from "../api/session.ts"
import { me } from "../me.ts"
import { curlOf } from "../parts/curl.ts"
import { submitted } from "../parts/form.ts"
import { dateOf } from "../parts/format.ts"
import { Unread } from "../parts/list.tsx"
import { Confirm, Dialog, Field, FormEnd, Note, Outcome, Text, Time, useDoing, useQuestion } from "../parts/parts.tsx"
import { Secret } from "../parts/secret.tsx"
import { t } from "../texts.ts"

const texts = t.me.keys

const example = { name: "my script", scope: "read", days: 30 }

const Expiry = ({ at }: { readonly at: string }) => (
  <>
    {(dateOf(at)?.getTime() ?? 0) < Date.now() ? texts.expired : texts.expires} <Time at={at} />
  </>
)

const post = async <A,>(address: string, body: object): Promise<A> =>
  (await (
    await ask("POST", address, { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } })
  ).json()) as A

/** Replaces the user's own key: the password can, a session alone cannot. All sessions end, and a new one begins with the new key. */
const NewKey = ({
  open,
  onClose,
  onRenewed,
}: {
  readonly open: boolean
  readonly onClose: () => void
  readonly onRenewed: () => void
}) => {
  const doing = useDoing()
  const made = useSignal<string | undefined>(undefined)
  const isOver = useSignal(false)
  const { userID = "", email = "" } = me.value ?? {}
  useEffect(() => release, [])
  const close = (): void => {
    if (doing.busy) return
    made.value = undefined
    isOver.value = false
    release()
    // leads to the sign-in page if the session is over
    refresh()
    onClose()
  }
  const submit = (event: SubmitEvent): void => {
    const password = submitted(event).text("password")
    void doing.run(async () => {
      const { token } = await post<{ readonly token: string }>("/api/collections/users/auth-with-password", {
        identity: email,
        password,
      })
      // the old session ends with the old key, and the new key is shown on this page only
      hold()
      const answer = await ask("GET", "/api/v2/user/apikey", { headers: { Authorization: token } })
      const { apiKey } = ((await answer.json()) as { readonly result: { readonly apiKey: string } }).result
      made.value = apiKey
      try {
        await post("/ui/session", { apiKey })
        renewed()
        onRenewed()
      } catch {
        isOver.value = true
      }
      return undefined
    })
  }
  return (
    <Dialog
      title={texts.create}
      open={open || made.value !== undefined}
      stays={doing.busy || made.value !== undefined}
      onClose={close}
    >
      {made.value === undefined ? (
        <form onSubmit={submit}>
          <p>{texts.createText}</p>
          <input type="text" name="username" autocomplete="username" value={email} hidden readOnly />
          <Field label={t.signIn.password} hint={texts.createPassword}>
            {(ids) => <input {...ids} name="password" type="password" autocomplete="current-password" required />}
          </Field>
          <FormEnd doing={doing} action={texts.create} danger onClose={close} />
        </form>
      ) : (
        <>
          <Secret label={texts.created(userID)} value={made.value} />
          {isOver.value ? <Note tone="warn">{texts.signInAgain}</Note> : null}
          <Outcome doing={doing} />
          <div class="actions end">
            <button type="button" class="primary" onClick={close}>
              {t.close}
            </button>
          </div>
        </>
      )}
    </Dialog>
  )
}

/** The user's API keys. `onRenewed`: a new one has ended all sessions, and this one was begun again. */
export const Keys = ({ onRenewed }: { readonly onRenewed: () => void }) => {
  const doing = useDoing()
  const question = useQuestion()
  const creating = useSignal(false)
  const keys = useRead<{ readonly keys: readonly ScopedKeyAnswer[] }>("/user/keys")
  const list = keys.data.value?.keys ?? []
  const remove = (keyID: string, name: string): void => {
    question.value = {
      title: texts.removeTitle(name),
      text: texts.removeText,
      action: texts.remove,
      danger: true,
      act: () => void doing.run(() => changeText("DELETE", "/user/keys/{keyID}", { keyID })),
    }
  }
  return (
    <section class="card" aria-labelledby="keys">
      <h2 id="keys">{texts.title}</h2>
      <p class="muted">{texts.text}</p>
      <Unread of={keys} />
      {list.length === 0 ? null : (
        <ul class="plain lines">
          {list.map(({ keyID, name, scope, rangeID, expiresAt }) => (
            <li key={keyID}>
              <span>
                <Text>{name}</Text>
                <span class="sub">
                  <Text>{scope === "read" ? texts.reads : texts.ofRange(rangeID ?? "")}</Text> · <Expiry at={expiresAt} />
                </span>
              </span>
              <button
                type="button"
                class="small"
                disabled={doing.busy}
                aria-label={texts.removeLabel(name)}
                onClick={() => remove(keyID, name)}
              >
                {texts.remove}
              </button>
            </li>
          ))}
        </ul>
      )}
      <Outcome doing={doing} />
      <p class="actions">
        <button type="button" disabled={doing.busy} onClick={() => (creating.value = true)}>
          {texts.create}…
        </button>
      </p>
      <details>
        <summary>{texts.how}</summary>
        <p class="muted">{texts.howText}</p>
        <pre class="command" tabIndex={0} aria-label={texts.how}>
          {curlOf({ method: "POST", address: "/api/v2/user/keys", body: JSON.stringify(example) }, location.origin)}
        </pre>
      </details>
      <NewKey open={creating.value} onClose={() => (creating.value = false)} onRenewed={onRenewed} />
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </section>
  )
}
