import type { DiskUseAnswer } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { useRead } from "../api/resource.ts"
import { base, blueprintPath, linkTo } from "../links.ts"
import { bytes } from "../parts/format.ts"
import { Unread } from "../parts/list.tsx"
import { Text } from "../parts/parts.tsx"
import { t } from "../texts.ts"

/** Disk space that a user takes on the service's host, and the limit; `used` is undefined when it could not be determined. */
export const diskText = (used: number | undefined, limit: number): string =>
  used === undefined ? t.disk.unknown : limit === 0 ? bytes(used) : t.disk.of(bytes(used), bytes(limit))

type Kind = DiskUseAnswer["things"][number]["kind"]

/** The address of a thing's page; undefined where the viewer has none. Roles, collections and templates of others are on no page. */
const hrefOf = (kind: Kind, name: string, isOwn: boolean): string | undefined => {
  switch (kind) {
    case "blueprint":
      return `${base}${blueprintPath(name)}`
    case "range":
      return linkTo("ranges", name)
    case "source":
      return linkTo("sources", name)
    case "template":
      return isOwn ? linkTo("templates", name) : undefined
    case "role":
    case "collection":
      return isOwn ? `${linkTo("roles")}?q=${encodeURIComponent(name)}` : undefined
  }
}

const Named = ({ name, href }: { readonly name: string; readonly href: string | undefined }) =>
  href === undefined ? (
    <Text>{name}</Text>
  ) : (
    <a href={href}>
      <Text>{name}</Text>
    </a>
  )

/** What takes the space, the largest first: read when unfolded. Without `userID`, that of the current user. */
export const DiskThings = ({ userID }: { readonly userID?: string }) => {
  const open = useSignal(false)
  const use = useRead<DiskUseAnswer>(open.value ? "/user/disk" : undefined, userID === undefined ? {} : { userID })
  return (
    <details onToggle={({ currentTarget }) => (open.value = currentTarget.open)}>
      <summary aria-label={userID === undefined ? undefined : t.disk.thingsOf(userID)}>{t.disk.things}</summary>
      {open.value ? <Unread of={use} /> : null}
      <ul class="plain">
        {use.data.value?.things.map(({ kind, name, bytes: size, shared }) => (
          <li key={`${kind} ${name}`}>
            <Named name={name} href={hrefOf(kind, name, userID === undefined)} />{" "}
            <span class="muted">
              {t.disk.kinds[kind]}, {bytes(size)}
              {shared ? `, ${t.disk.shared}` : ""}
            </span>
          </li>
        ))}
      </ul>
    </details>
  )
}
