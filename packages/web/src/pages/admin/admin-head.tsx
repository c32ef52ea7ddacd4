import type { ComponentChildren } from "preact"
import { Head, Tabs } from "../../parts/parts.tsx"
import { linkTo } from "../../links.ts"
import { place } from "../../router.ts"
import { admin } from "../../texts/admin.ts"

/** The head of every administrator's page. */
export const AdminHead = ({
  title,
  lead,
  children,
}: {
  readonly title: ComponentChildren
  readonly lead?: ComponentChildren
  readonly children?: ComponentChildren
}) => {
  const [, area = ""] = /^\/admin\/([^/]+)/u.exec(place.value.path) ?? []
  return (
    <>
      <Head title={title} lead={lead}>
        {children}
      </Head>
      <Tabs
        label={admin.label}
        tabs={Object.entries(admin.tabs).map(([name, text]) => ({
          href: linkTo("admin", name),
          text,
          current: name === area,
        }))}
      />
    </>
  )
}
