import type { ScopedKeyAnswer } from "@rangewright/application/wire"
import { changeText } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { curlOf } from "../parts/curl.ts"
import { dateOf } from "../parts/format.ts"
import { Unread } from "../parts/list.tsx"
import { Confirm, Outcome, Text, Time, useDoing, useQuestion } from "../parts/parts.tsx"
import { t } from "../texts.ts"

const texts = t.me.keys

const example = { name: "my script", scope: "read", days: 30 }

const Expiry = ({ at }: { readonly at: string }) => (
  <>
    {(dateOf(at)?.getTime() ?? 0) < Date.now() ? texts.expired : texts.expires} <Time at={at} />
  </>
)

/** The user's API keys. A session cannot create keys: somebody who stole it would gain lasting access. */
export const Keys = () => {
  const doing = useDoing()
  const question = useQuestion()
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
      <details>
        <summary>{texts.how}</summary>
        <p class="muted">{texts.howText}</p>
        <pre class="command" tabIndex={0} aria-label={texts.how}>
          {curlOf({ method: "POST", address: "/api/v2/user/keys", body: JSON.stringify(example) }, location.origin)}
        </pre>
      </details>
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </section>
  )
}
