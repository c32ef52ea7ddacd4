import { useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { ask, change, Refusal } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { ownPath, signedIn, signedOut } from "../api/session.ts"
import { me } from "../me.ts"
import { submitted } from "../parts/form.ts"
import { ConfirmButton, Field, Outcome, Refused, Time, useDoing } from "../parts/parts.tsx"
import { place } from "../router.ts"
import { t } from "../texts.ts"

/** What this tab does when the provider sends it back: connect the user, or go to a page of ours. Not a secret. */
const kept = "rangewright-at-provider"
const connecting = "connect"

const post = (address: string, body: unknown): Promise<Response> =>
  ask("POST", address, { body: JSON.stringify(body), headers: { "Content-Type": "application/json" } })

const leaveFor = async (purpose: string, body: unknown): Promise<undefined> => {
  const { url } = (await (await post("/ui/single-sign-on", body)).json()) as { readonly url: string }
  sessionStorage.setItem(kept, purpose)
  location.assign(url)
  return undefined
}

/** The provider's name; undefined when there is none, or it is not known yet. */
const useProvider = () => {
  const name = useSignal<string | undefined>(undefined)
  useEffect(() => {
    const read = async (): Promise<void> => {
      const answer = await ask("GET", "/ui/single-sign-on")
      name.value = ((await answer.json()) as { readonly name: string | null }).name ?? undefined
    }
    // passwords and keys work without it
    read().catch(() => undefined)
  }, [])
  return name.value
}

/** Nothing when no provider is configured. */
export const ProviderButton = () => {
  const name = useProvider()
  const doing = useDoing()
  if (name === undefined) return null
  return (
    <>
      <button
        type="button"
        class="wide"
        disabled={doing.busy}
        onClick={() => void doing.run(() => leaveFor(ownPath(place.peek().query.get("next") ?? undefined) ?? "", {}))}
      >
        {t.singleSignOn.button(name)}
      </button>
      <Outcome doing={doing} />
    </>
  )
}

/** The user's connection to the provider, or a form to create one with their password. */
export const Connection = () => {
  const name = useProvider()
  const { data, reload } = useRead<{ readonly identities: readonly { readonly subject: string; readonly createdAt: string }[] }>(
    "/user/identity",
  )
  const doing = useDoing()
  if (name === undefined || data.value === undefined) return null
  const [identity] = data.value.identities
  const connect = (event: SubmitEvent): void => {
    const { text } = submitted(event)
    void doing.run(() => leaveFor(connecting, { password: text("password") }))
  }
  const disconnect = async (): Promise<undefined> => {
    await change("DELETE", "/user/identity")
    await reload()
    signedOut()
    return undefined
  }
  return (
    <section class="card" aria-labelledby="provider">
      <h2 id="provider">{t.singleSignOn.title(name)}</h2>
      {identity === undefined ? (
        <form onSubmit={connect}>
          <p class="muted">{t.singleSignOn.text(name)}</p>
          <input type="text" name="username" autocomplete="username" value={me.value?.email ?? ""} hidden readOnly />
          <Field label={t.signIn.password}>
            {(ids) => <input {...ids} name="password" type="password" autocomplete="current-password" required />}
          </Field>
          <button type="submit" disabled={doing.busy}>
            {t.singleSignOn.connect}
          </button>
        </form>
      ) : (
        <>
          <p>
            {t.singleSignOn.connected} <Time at={identity.createdAt} />
          </p>
          <ConfirmButton
            disabled={doing.busy}
            question={{
              title: t.singleSignOn.disconnectTitle(name),
              text: t.singleSignOn.disconnectText,
              action: t.singleSignOn.disconnect,
              danger: true,
              act: () => void doing.run(disconnect),
            }}
          >
            {t.singleSignOn.disconnect}
          </ConfirmButton>
        </>
      )}
      <Outcome doing={doing} />
    </section>
  )
}

/** What providers answer (OAuth 2.0, OpenID Connect). Other words are not shown: anybody may have written the address. */
const refusals: ReadonlySet<string> = new Set([
  "access_denied",
  "account_selection_required",
  "consent_required",
  "interaction_required",
  "invalid_request",
  "invalid_scope",
  "login_required",
  "server_error",
  "temporarily_unavailable",
  "unauthorized_client",
  "unsupported_response_type",
])

/** Where the provider sends the browser back. Anybody may have written the address: the service checks it. */
export const ProviderReturn = () => {
  const refusal = useSignal<Refusal | undefined>(undefined)
  useEffect(() => {
    const { query } = place.peek()
    const purpose = sessionStorage.getItem(kept) ?? ""
    sessionStorage.removeItem(kept)
    // a code is valid once: it does not stay in the address
    history.replaceState(null, "", location.pathname)
    const issuer = query.get("iss")
    const answer = {
      code: query.get("code") ?? "",
      state: query.get("state") ?? "",
      ...(issuer === null ? {} : { issuer }),
    }
    const finish = async (): Promise<void> => {
      const word = query.get("error")
      if (word !== null) throw new Refusal(0, t.singleSignOn.refused(refusals.has(word) ? word : undefined))
      await post(purpose === connecting ? "/ui/identity" : "/ui/session", answer)
      signedIn(purpose === connecting ? "/ui/me" : purpose)
    }
    finish().catch((error: unknown) => {
      refusal.value = error instanceof Refusal ? error : new Refusal(0, String(error))
    })
  }, [])
  return (
    <main class="sign-in" id="content">
      <h1>{t.signIn.title}</h1>
      {refusal.value === undefined ? <p>{t.signIn.busy}</p> : <Refused refusal={refusal.value} />}
      {refusal.value === undefined ? null : <a href="/ui/login">{t.singleSignOn.back}</a>}
    </main>
  )
}
