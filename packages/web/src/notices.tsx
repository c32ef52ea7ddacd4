import type { NoticeAnswer } from "@rangewright/application/wire"
import { signal } from "@preact/signals"
import { useEffect, useState } from "preact/hooks"
import { read } from "./api/client.ts"
import { onLive } from "./live/live.ts"
import { me } from "./me.ts"
import { shortTime } from "./parts/format.ts"
import { Text } from "./parts/parts.tsx"
import { t } from "./texts.ts"

/** Notices of the user's groups. */
export const notices = signal<readonly NoticeAnswer[]>([])
/** Notices that the user has closed, until the page is reloaded. */
const closed = signal<ReadonlySet<string>>(new Set())

const keyOf = ({ groupName, at }: NoticeAnswer): string => `${groupName} ${at}`

export const readNotices = async (): Promise<void> => {
  try {
    notices.value = await read<readonly NoticeAnswer[]>("/notices")
  } catch {
    // keeps the present ones; the next event reads them again
  }
}

export const followNotices = (): void => {
  onLive(({ topic }) => {
    if (topic === "notice" || topic === "reset") void readNotices()
  })
}

export const isOver = ({ until }: NoticeAnswer): boolean => Date.parse(until) <= Date.now()

/** Shown above every page: notices of the user's groups, set by others. */
export const Notices = () => {
  const [, showAgain] = useState(0)
  const shown = notices.value.filter(
    (notice) => notice.by !== me.value?.userID && !isOver(notice) && !closed.value.has(keyOf(notice)),
  )
  const next = Math.min(...shown.map(({ until }) => Date.parse(until)))
  useEffect(() => {
    if (!Number.isFinite(next)) return
    const timer = setTimeout(() => showAgain((n) => n + 1), Math.max(0, next - Date.now()) + 50)
    return () => clearTimeout(timer)
  }, [next])
  return (
    <div role="status" class={shown.length === 0 ? undefined : "notices"}>
      {shown.map((notice) => (
        <div key={keyOf(notice)} class="notice">
          <p>
            <strong>
              <Text>{notice.groupName}</Text>
            </strong>{" "}
            <span class="said">
              <Text>{notice.text}</Text>
            </span>{" "}
            <span class="muted">
              <Text>{t.notice.by(notice.by, shortTime(new Date(notice.at)))}</Text>
            </span>
          </p>
          <button
            type="button"
            class="small"
            aria-label={t.notice.close(notice.groupName)}
            onClick={() => (closed.value = new Set([...closed.peek(), keyOf(notice)]))}
          >
            {t.close}
          </button>
        </div>
      ))}
    </div>
  )
}
