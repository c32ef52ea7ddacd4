import type { ComponentChildren } from "preact"
import type { Resource } from "../api/resource.ts"
import { place, setQuery } from "../router.ts"
import { t } from "../texts.ts"
import { Loading, Refused } from "./parts.tsx"

/** Shows that data is being read, or why it could not be read; nothing once it was. */
export const Unread = ({ of: { data, refusal, reload } }: { readonly of: Resource<unknown> }) => {
  if (refusal.value !== undefined) return <Refused refusal={refusal.value} retry={() => void reload()} />
  return data.value === undefined ? <Loading /> : null
}

/**
 * Why data could not be read, where a page is usable without it: nothing while it is being read, and while what was read last is shown.
 */
export const Lacking = ({ of: { data, refusal, reload } }: { readonly of: Resource<unknown> }) =>
  data.value !== undefined || refusal.value === undefined ? null : <Refused refusal={refusal.value} retry={() => void reload()} />

/** A table whose rows become cards on narrow screens: each cell names its column in `data-label`. */
export const CardTable = ({
  columns,
  children,
}: {
  readonly columns: readonly string[]
  readonly children: ComponentChildren
}) => (
  <table class="cards">
    <thead>
      <tr>
        {columns.map((text) => (
          <th key={text} scope="col">
            {text}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
)

/** The search words, kept in the page's address as `q`. */
export const Search = ({ label }: { readonly label: string }) => (
  <input
    type="search"
    aria-label={label}
    placeholder={label}
    value={place.value.query.get("q") ?? ""}
    onInput={({ currentTarget }) => setQuery({ q: currentTarget.value })}
  />
)

/** A word that filters a list, kept in the page's address; applied when the field loses focus or Enter is pressed. */
export const Word = ({ name, label }: { readonly name: string; readonly label: string }) => (
  <input
    type="search"
    aria-label={label}
    placeholder={label}
    autocapitalize="none"
    autocomplete="off"
    spellcheck={false}
    value={place.value.query.get(name) ?? ""}
    onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value.trim(), cursor: undefined })}
  />
)

/** Links to other pages of a list, by the service's parameter for where one begins; the address keeps it as `cursor`. */
export const Parts = ({ next, by }: { readonly next: string | undefined; readonly by: string }) => {
  const older = new URLSearchParams(next).get(by) ?? undefined
  const go = (cursor: string | undefined) => () => {
    setQuery({ cursor })
    scrollTo(0, 0)
  }
  return (
    <p class="actions">
      {place.value.query.has("cursor") ? (
        <button type="button" onClick={go(undefined)}>
          {t.newest}
        </button>
      ) : null}
      {older === undefined ? null : (
        <button type="button" onClick={go(older)}>
          {t.older}
        </button>
      )}
    </p>
  )
}

/** A choice of one value or any, kept in the page's address. */
export const Choice = ({
  name,
  label,
  any,
  values,
}: {
  readonly name: string
  readonly label: string
  readonly any: string
  readonly values: readonly (readonly [value: string, text: string])[]
}) => (
  <select
    aria-label={label}
    value={place.value.query.get(name) ?? ""}
    onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value, cursor: undefined })}
  >
    <option value="">{any}</option>
    {values.map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
)
