import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { ask } from "../api/client.ts"
import { signedIn } from "../api/session.ts"
import { Field, Outcome, useDoing } from "../parts/parts.tsx"
import { place } from "../router.ts"
import { submitted } from "../parts/form.ts"
import { t } from "../texts.ts"

/** Page of an invitation link: its user sets a password, and is signed in. */
export const Invite = () => {
  const { query, mark } = place.peek()
  const user = query.get("user") ?? ""
  const token = useSignal(mark)
  const doing = useDoing()
  useEffect(() => {
    document.title = `${t.invite.title} · ${t.product}`
    // the token gives access to the account, so it must not stay in the browser's history
    history.replaceState(null, "", location.pathname + location.search)
  }, [])
  const submit = (event: SubmitEvent): void => {
    const { text } = submitted(event)
    void doing.run(async () => {
      await ask("POST", "/ui/session", {
        body: JSON.stringify({ invite: token.peek(), password: text("password") }),
        headers: { "Content-Type": "application/json" },
      })
      signedIn(undefined)
      return undefined
    })
  }
  return (
    <main class="sign-in" id="content">
      <form onSubmit={submit}>
        <h1>{t.invite.title}</h1>
        <p class="muted">{t.invite.text}</p>
        <Field label={t.invite.user}>
          {(ids) => <input {...ids} name="user" type="text" value={user} readOnly autocomplete="username" />}
        </Field>
        <Field label={t.invite.password} hint={t.invite.passwordHint}>
          {(ids) => <input {...ids} name="password" type="password" autocomplete="new-password" required minLength={8} />}
        </Field>
        <Outcome doing={doing} />
        <button type="submit" class="primary wide" disabled={doing.busy}>
          {doing.busy ? t.signIn.busy : t.invite.submit}
        </button>
        <a class="button quiet wide" href="/ui/login">
          {t.invite.signIn}
        </a>
      </form>
    </main>
  )
}
