import type { DiskUseAnswer, LogEntry } from "@rangewright/application/wire"
import { useSignal } from "@preact/signals"
import { changeText, read } from "../../api/client.ts"
import { useRead } from "../../api/resource.ts"
import { linkTo } from "../../links.ts"
import { me } from "../../me.ts"
import { Unread } from "../../parts/list.tsx"
import { dateOf, shortTime } from "../../parts/format.ts"
import { ConfirmButton, Empty, Head, Outcome, State, Text, Time, useDoing } from "../../parts/parts.tsx"
import { runTone } from "../../range/sentence.ts"
import { content } from "../../texts/content.ts"
import { t } from "../../texts.ts"
import { ofTemplates } from "./live.ts"
import { BuildButton, type Template, TemplateState } from "./templates.tsx"

const texts = content.template

interface Checked {
  readonly images: readonly {
    readonly url?: string
    readonly file: { readonly state: keyof typeof texts.file; readonly because?: string }
    readonly checksum: { readonly state: keyof typeof texts.checksum; readonly because?: string }
  }[]
  readonly evaluation?: { readonly state: "runs" | "ended" | "not_checked"; readonly days: number; readonly endsAt?: string }
  readonly notChecked?: string
}

const Findings = ({ checked: { images, evaluation, notChecked } }: { readonly checked: Checked }) => {
  const ends = dateOf(evaluation?.endsAt)
  const until = ends === undefined ? undefined : shortTime(ends)
  return (
    <ul class="plain needs" aria-live="polite">
      {images.map(({ url, file, checksum }, at) => {
        const isBad = file.state === "gone" || checksum.state === "differs"
        const isGood = file.state === "there" && checksum.state === "matches"
        const reasons = [file.because, checksum.because].filter((because) => because !== undefined)
        return (
          <li key={at} class="note">
            <State tone={isBad ? "bad" : isGood ? "ok" : "warn"}>
              {texts.file[file.state]}; {texts.checksum[checksum.state]}
            </State>
            <span class="sub mono">
              <Text>{texts.image(url)}</Text>
            </span>
            {reasons.map((reason) => (
              <span key={reason} class="sub lines">
                <Text>{reason}</Text>
              </span>
            ))}
          </li>
        )
      })}
      {evaluation === undefined ? null : (
        <li class="note">
          {evaluation.state === "ended" ? (
            <State tone="bad">{texts.ended(until)}</State>
          ) : (
            texts.evaluation(evaluation.days, until)
          )}
        </li>
      )}
      {notChecked === undefined ? null : (
        <li class="note lines">
          <Text>{notChecked}</Text>
        </li>
      )}
      {images.length === 0 && notChecked === undefined ? <li class="note">{texts.nothing}</li> : null}
    </ul>
  )
}

const useBuilds = () => useRead<readonly LogEntry[]>("/templates/logs/history", {}, ofTemplates)

/** Whether the user may delete something of it: everything as an administrator, otherwise their own files and what they built. */
const useMayDelete = (name: string, isBuilt: boolean): boolean => {
  const isAdmin = me.value?.isAdmin === true
  const kept = useRead<DiskUseAnswer>(isAdmin ? undefined : "/user/disk")
  const builds = useBuilds()
  if (isAdmin || kept.data.value?.things.some((thing) => thing.kind === "template" && thing.name === name) === true) return true
  return isBuilt && builds.data.value?.some(({ template, status }) => template === name && status === "success") === true
}

const Builds = ({ name }: { readonly name: string }) => {
  const builds = useBuilds()
  const own = builds.data.value?.filter(({ template }) => template === name)
  return (
    <section class="card" aria-labelledby="builds">
      <h2 id="builds">{texts.builds}</h2>
      <Unread of={builds} />
      {own?.length === 0 ? <p class="muted">{texts.noBuilds}</p> : null}
      <ul class="plain lines">
        {own?.map(({ id, status, start }) => (
          <li key={id}>
            <a href={linkTo("runs", id)}>
              <Time at={start} />
            </a>
            <State tone={runTone(status)}>{t.runStatus[status]}</State>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** A template: its state, its builds, and whether it can still be built. */
export const TemplatePage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const name = values["name"] ?? ""
  const templates = useRead<readonly Template[]>("/templates", {}, ofTemplates)
  const doing = useDoing()
  const checked = useSignal<readonly Checked[] | undefined>(undefined)
  const template = templates.data.value?.find((one) => one.name === name)
  const mayDelete = useMayDelete(name, template?.built === true)
  if (template === undefined)
    return (
      <>
        <Head title={<Text>{name}</Text>} />
        <Unread of={templates} />
        {templates.data.value === undefined ? null : (
          <Empty title={texts.unknown(name)}>
            <a href={linkTo("templates")}>{texts.all}</a>
          </Empty>
        )}
      </>
    )
  const check = () =>
    doing.run(async () => {
      checked.value = await read<readonly Checked[]>("/templates/check", { name })
      return undefined
    })
  const remove = async (): Promise<void> => {
    await doing.run(() => changeText("DELETE", "/template/{name}", { name }), "/templates")
  }
  return (
    <>
      <Head
        title={<Text>{name}</Text>}
        lead={template.description === undefined ? undefined : <Text>{template.description}</Text>}
      >
        <BuildButton name={name} status={template.status} doing={doing} />
        {mayDelete ? (
          <ConfirmButton
            class="danger"
            disabled={doing.busy}
            question={{
              title: texts.deleteTitle(name),
              text: texts.deleteText,
              action: texts.delete,
              danger: true,
              act: () => void remove(),
            }}
          >
            {texts.delete}
          </ConfirmButton>
        ) : null}
      </Head>
      <Outcome doing={doing} />
      <div class="columns">
        <div>
          <section aria-labelledby="images">
            <h2 id="images">{texts.images}</h2>
            <p class="muted">{texts.checkText}</p>
            <p>
              <button type="button" disabled={doing.busy} onClick={() => void check()}>
                {texts.check}
              </button>
            </p>
            {checked.value?.map((one, at) => (
              <Findings key={at} checked={one} />
            ))}
          </section>
          {template.thumbnailUrl === undefined ? null : <img class="picture" src={template.thumbnailUrl} alt="" />}
        </div>
        <aside>
          <section class="card" aria-labelledby="about">
            <h2 id="about">{t.range.facts}</h2>
            <dl class="facts">
              <dt>{t.templates.columns.state}</dt>
              <dd>
                <TemplateState status={template.status} />
              </dd>
              <dt>{texts.system}</dt>
              <dd>{template.os}</dd>
            </dl>
          </section>
          <Builds name={name} />
        </aside>
      </div>
    </>
  )
}
