import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { ask } from "../api/client.ts"
import { signedIn, hasNewPassword } from "../api/session.ts"
import { Field, Outcome, State, useDoing } from "../parts/parts.tsx"
import { place } from "../router.ts"
import { submitted } from "../parts/form.ts"
import { t } from "../texts.ts"
import { ProviderButton } from "./single-sign-on.tsx"

const credentials = ({ text, has }: ReturnType<typeof submitted>): Readonly<Record<string, string>> => {
  if (has("apiKey")) return { apiKey: text("apiKey").trim() }
  const user = text("user").trim()
  const password = text("password")
  return user.includes("@") ? { email: user, password } : { userID: user, password }
}

export const SignIn = () => {
  const byKey = useSignal(false)
  const doing = useDoing()
  useEffect(() => {
    document.title = `${t.signIn.title} · ${t.product}`
  }, [])
  const submit = (event: SubmitEvent): void => {
    const form = submitted(event)
    void doing.run(async () => {
      await ask("POST", "/ui/session", {
        body: JSON.stringify(credentials(form)),
        headers: { "Content-Type": "application/json" },
      })
      signedIn(place.peek().query.get("next") ?? undefined)
      return undefined
    })
  }
  return (
    <main class="sign-in" id="content">
      <form onSubmit={submit}>
        <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="7" />
          <path d="M16 9v5M8 22v-4h16v4" />
          <circle cx="16" cy="8" r="3" />
          <circle cx="8" cy="23" r="3" />
          <circle cx="16" cy="23" r="3" />
          <circle cx="24" cy="23" r="3" />
        </svg>
        <h1>{t.signIn.title}</h1>
        <p class="muted">
          {t.product} · {t.signIn.intro}
        </p>
        {hasNewPassword() ? <State tone="ok">{t.signIn.passwordChanged}</State> : null}
        {byKey.value ? (
          <Field key="key" label={t.signIn.key}>
            {(ids) => <input {...ids} name="apiKey" type="password" autocomplete="off" required spellcheck={false} />}
          </Field>
        ) : (
          <>
            <Field key="user" label={t.signIn.user}>
              {(ids) => (
                <input
                  {...ids}
                  name="user"
                  type="text"
                  autocomplete="username"
                  autocapitalize="none"
                  required
                  spellcheck={false}
                />
              )}
            </Field>
            <Field key="password" label={t.signIn.password}>
              {(ids) => <input {...ids} name="password" type="password" autocomplete="current-password" required />}
            </Field>
          </>
        )}
        <Outcome doing={doing} />
        <button type="submit" class="primary wide" disabled={doing.busy}>
          {doing.busy ? t.signIn.busy : t.signIn.submit}
        </button>
        <button type="button" class="quiet wide" onClick={() => (byKey.value = !byKey.value)}>
          {byKey.value ? t.signIn.withPassword : t.signIn.withKey}
        </button>
        <ProviderButton />
        <p class="hint">{t.signIn.first}</p>
      </form>
    </main>
  )
}
