import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { ask, Refusal } from "../api/client.ts"
import { signedIn } from "../api/session.ts"
import { Field, Loading, Outcome, Refused, useDoing } from "../parts/parts.tsx"
import { place } from "../router.ts"
import { submitted } from "../parts/form.ts"
import { t } from "../texts.ts"

const askWith = async <A,>(address: string, body: object): Promise<A> =>
  (await (
    await ask("POST", address, { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } })
  ).json()) as A

/** Page of an invitation link: its user sets a password, and is signed in. */
export const Invite = () => {
  const token = useSignal(place.peek().mark)
  /** As the service says: anybody may have written the link. */
  const user = useSignal<string | undefined>(undefined)
  const refusal = useSignal<Refusal | undefined>(undefined)
  const doing = useDoing()
  const load = (): void => {
    refusal.value = undefined
    askWith<{ readonly userID: string }>("/ui/invite", { invite: token.peek() }).then(
      ({ userID }) => (user.value = userID),
      (error: unknown) => (refusal.value = error instanceof Refusal ? error : new Refusal(0, String(error))),
    )
  }
  useEffect(() => {
    document.title = `${t.invite.title} · ${t.product}`
    // the token gives access to the account, so it must not stay in the browser's history
    history.replaceState(null, "", location.pathname + location.search)
    load()
  }, [])
  const submit = (event: SubmitEvent): void => {
    const { text } = submitted(event)
    void doing.run(async () => {
      await askWith("/ui/session", { invite: token.peek(), password: text("password") })
      signedIn(undefined)
      return undefined
    })
  }
  return (
    <main class="sign-in" id="content">
      <form onSubmit={submit}>
        <h1>{t.invite.title}</h1>
        {refusal.value !== undefined ? (
          <Refused refusal={refusal.value} {...(refusal.value.status === 401 ? {} : { retry: load })} />
        ) : user.value === undefined ? (
          <Loading />
        ) : (
          <>
            <p class="muted">{t.invite.text}</p>
            <Field label={t.invite.user}>
              {(ids) => <input {...ids} name="user" type="text" value={user.value} readOnly autocomplete="username" />}
            </Field>
            <Field label={t.invite.password} hint={t.invite.passwordHint}>
              {(ids) => <input {...ids} name="password" type="password" autocomplete="new-password" required minLength={8} />}
            </Field>
            <Outcome doing={doing} />
            <button type="submit" class="primary wide" disabled={doing.busy}>
              {doing.busy ? t.signIn.busy : t.invite.submit}
            </button>
          </>
        )}
        <a class="button quiet wide" href="/ui/login">
          {t.invite.signIn}
        </a>
      </form>
    </main>
  )
}
