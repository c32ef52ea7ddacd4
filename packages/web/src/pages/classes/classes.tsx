import type { GroupAnswer } from "@rangewright/application/wire"
import { useRead } from "../../api/resource.ts"
import { managed, me } from "../../me.ts"
import { CardTable, Unread } from "../../parts/list.tsx"
import { Empty, Head, Text } from "../../parts/parts.tsx"
import { linkTo } from "../../links.ts"
import { classes as texts } from "../../texts/classes.ts"

export const ClassesPage = () => {
  const groups = useRead<readonly GroupAnswer[]>("/groups")
  const data = groups.data.value?.filter(({ name }) => me.value?.isAdmin === true || managed.value.includes(name))
  return (
    <>
      <Head title={texts.title} lead={texts.intro} />
      <Unread of={groups} />
      {data === undefined ? null : data.length === 0 ? (
        <Empty title={texts.empty}>
          <p class="muted">{texts.emptyText}</p>
        </Empty>
      ) : (
        <CardTable columns={Object.values(texts.columns)}>
          {data.map(({ name, description, numMembers, numManagers, numRanges }) => (
            <tr key={name}>
              <th scope="row">
                <a href={linkTo("classes", name)}>
                  <Text>{name}</Text>
                </a>
                <span class="sub">
                  <Text>{description}</Text>
                </span>
              </th>
              <td data-label={texts.columns.members}>{texts.people(numMembers, numManagers)}</td>
              <td data-label={texts.columns.ranges}>{numRanges}</td>
            </tr>
          ))}
        </CardTable>
      )}
    </>
  )
}
