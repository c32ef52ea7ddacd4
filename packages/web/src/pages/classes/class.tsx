import type { GroupMemberAnswer, Range } from "@rangewright/application/wire"
import { useRead } from "../../api/resource.ts"
import { Head, Tabs, Text } from "../../parts/parts.tsx"
import { patchClass } from "../../range/patch.ts"
import { linkTo } from "../../links.ts"
import { place } from "../../router.ts"
import { classes as texts } from "../../texts/classes.ts"
import { ClassNotice, TellClass } from "./class-notice.tsx"
import { ClassPeople } from "./class-people.tsx"
import { ClassRanges, needsHelp } from "./class-ranges.tsx"

export const ClassPage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const groupName = values["group"] ?? ""
  const ranges = useRead<readonly Range[]>(
    "/groups/{groupName}/ranges",
    { groupName },
    ({ topic }) => topic === "range" || topic === "machine",
    patchClass,
  )
  const members = useRead<readonly GroupMemberAnswer[]>("/groups/{groupName}/users", { groupName })
  const view = place.value.query.get("view") === "people" ? "people" : "ranges"
  const data = ranges.data.value
  return (
    <>
      <Head
        title={<Text>{groupName}</Text>}
        lead={data === undefined ? undefined : texts.lead(data.length, data.filter(needsHelp).length)}
      >
        <TellClass group={groupName} />
      </Head>
      <ClassNotice group={groupName} />
      <Tabs
        label={texts.tabsLabel}
        tabs={(["ranges", "people"] as const).map((name) => ({
          href: `${linkTo("classes", groupName)}${name === "people" ? "?view=people" : ""}`,
          text: texts.tabs[name],
          current: name === view,
        }))}
      />
      {view === "people" ? <ClassPeople group={groupName} members={members} ranges={ranges} /> : <ClassRanges ranges={ranges} />}
    </>
  )
}
