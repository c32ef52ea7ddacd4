import type { Machine, MachineAnswer, Run, Snapshots } from "@rangewright/application/wire"
import { fetchFile } from "../api/client.ts"
import { useRead } from "../api/resource.ts"
import { linkTo } from "../links.ts"
import { duration, secondsBetween } from "../parts/format.ts"
import { Icon } from "../parts/icon.tsx"
import { Lacking } from "../parts/list.tsx"
import { Confirm, Empty, Head, Loading, Note, Outcome, Refused, State, Text, Time, useDoing } from "../parts/parts.tsx"
import { Files, textOf } from "../range/files.tsx"
import { More, Power, useMachineActions } from "../range/machine-actions.tsx"
import { useRange } from "../range/range-head.tsx"
import { kindOf, shortName } from "../range/sentence.ts"
import { stepTones } from "../run/step-tones.ts"
import { t } from "../texts.ts"
import { Windows } from "./machine-windows.tsx"

const texts = t.machine

const systemOf = ({ name, id, versionId, kernel }: NonNullable<MachineAnswer["agent"]>): string =>
  [name ?? id, versionId, kernel].filter((text) => text !== undefined).join(", ")

/** Facts about the machine; `detail` is read separately, and may arrive later. */
const Facts = ({ machine, detail }: { readonly machine: Machine; readonly detail: MachineAnswer | undefined }) => {
  const {
    os,
    template,
    configured,
    domain,
    vlan,
    network,
    node,
    tags = [],
    foreignAddresses = [],
    agent,
    lastChange,
  } = detail ?? {}
  const licence = machine.licenseStatus === "N/A" ? undefined : machine.licenseStatus
  const facts: readonly (readonly [term: string, text: string | undefined])[] = [
    [texts.id, String(machine.proxmoxID)],
    [texts.node, node],
    [texts.address, machine.ip === "null" ? texts.noAddress : machine.ip],
    [texts.configured, configured === machine.ip ? undefined : configured],
    [texts.foreign, foreignAddresses.length === 0 ? undefined : foreignAddresses.join(", ")],
    [texts.network, vlan === undefined ? undefined : `${t.range.vlan(vlan)}${network === undefined ? "" : `, ${network}`}`],
    [texts.size, t.range.size(machine.cpu, machine.ram)],
    [texts.os, os],
    [texts.agent, agent === undefined ? undefined : systemOf(agent)],
    [texts.template, template],
    [texts.domain, domain === undefined ? undefined : `${domain.fqdn}, ${texts.roles[domain.role]}`],
    [texts.licence, detail?.licence ?? licence],
    [texts.tags, tags.length === 0 ? undefined : tags.join(", ")],
  ]
  return (
    <section class="card" aria-labelledby="facts">
      <h2 id="facts">{texts.facts}</h2>
      <dl class="facts">
        {facts.map(([term, text]) =>
          text === undefined ? null : (
            <>
              <dt>{term}</dt>
              <dd>
                <Text>{text}</Text>
              </dd>
            </>
          ),
        )}
        {lastChange === undefined ? null : (
          <>
            <dt>{texts.lastChange}</dt>
            <dd>
              <a href={linkTo("runs", lastChange.id)}>
                <Text>{kindOf(lastChange.kind)}</Text>
              </a>{" "}
              <Time at={lastChange.startedAt} />
            </dd>
          </>
        )}
        {machine.missingSince === undefined ? null : (
          <>
            <dt>{texts.missing}</dt>
            <dd>
              <Time at={machine.missingSince} />
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}

const LastSteps = ({ run, name }: { readonly run: Run; readonly name: string }) => {
  const steps = run.steps.filter(({ machine }) => machine === name)
  return (
    <section class="card" aria-labelledby="steps">
      <h2 id="steps">{texts.steps(kindOf(run.kind))}</h2>
      {steps.length === 0 ? <p class="muted">{texts.noSteps}</p> : null}
      <ul class="plain lines">
        {steps.map((step) => {
          const seconds = secondsBetween(step.startedAt, step.endedAt, Date.now())
          return (
            <li key={step.key}>
              <span>
                <Text>{step.title}</Text>
                {step.failure === undefined ? null : (
                  <span class="sub bad lines">
                    <Text>{step.failure.message}</Text>
                  </span>
                )}
              </span>
              <State tone={stepTones[step.phase]}>{t.phase[step.phase]}</State>
              <span class="muted">{seconds === undefined ? "" : duration(seconds)}</span>
            </li>
          )
        })}
      </ul>
      <p>
        <a href={linkTo("runs", run.id)}>{texts.toRun}</a>
      </p>
    </section>
  )
}

const Connect = ({
  rangeID,
  vmid,
  os,
}: {
  readonly rangeID: string
  readonly vmid: string
  readonly os: MachineAnswer["os"]
}) => {
  const parameters = { rangeID, machine: vmid }
  const desktop = { title: t.range.rdp, name: `${vmid}-rdp.zip`, get: () => fetchFile("/range/rdpconfigs", parameters) }
  const shell = { title: t.range.ssh, name: `${vmid}-ssh-config.txt`, get: () => textOf("/range/sshconfig", parameters) }
  return (
    <section class="card" aria-labelledby="connect">
      <h2 id="connect">{t.range.connect}</h2>
      <Files files={os === "windows" ? [desktop] : [shell]} />
    </section>
  )
}

const SnapshotsOf = ({ rangeID, vmid }: { readonly rangeID: string; readonly vmid: number }) => {
  const sets = useRead<Snapshots>("/snapshots/sets", { rangeID }, (event) => event.topic === "run" && event.rangeID === rangeID)
  const own = sets.data.value?.sets.filter(({ machines }) => machines.some((machine) => machine.vmid === vmid))
  return (
    <section class="card" aria-labelledby="snapshots">
      <h2 id="snapshots">{texts.snapshots}</h2>
      {sets.refusal.value === undefined ? null : <Refused refusal={sets.refusal.value} />}
      {own?.length === 0 ? <p class="muted">{texts.noSnapshots}</p> : null}
      <ul class="plain lines">
        {(own ?? []).map(({ name, newest }) => (
          <li key={name}>
            <Text>{name}</Text>
            <span class="muted">
              <Time at={new Date(newest * 1000).toISOString()} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

export const MachinePage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const rangeID = values["id"] ?? ""
  const vmid = values["vmid"] ?? ""
  const view = useRange(rangeID)
  const detail = useRead<MachineAnswer>("/machine/{vmID}", { vmID: vmid }, (event) => event.rangeID === rangeID)
  const last = view.runs.data.value?.[0]?.id
  const run = useRead<Run>(
    last === undefined ? undefined : "/runs/{runID}",
    { runID: last },
    (event) => event.topic === "run" && event.rangeID === rangeID,
  )
  const doing = useDoing()
  const { question, act } = useMachineActions(doing, `/ranges/${encodeURIComponent(rangeID)}`)
  const range = view.range.data.value
  const machine = range?.VMs.find(({ proxmoxID }) => String(proxmoxID) === vmid)
  if (range === undefined || machine === undefined)
    return (
      <>
        <Head title={<Text>{vmid}</Text>} />
        {view.range.refusal.value !== undefined ? (
          <Refused refusal={view.range.refusal.value} />
        ) : range === undefined ? (
          <Loading />
        ) : (
          <Empty title={texts.unknown(vmid)}>
            <a href={linkTo("ranges", rangeID)}>{texts.all}</a>
          </Empty>
        )}
      </>
    )
  const name = shortName(rangeID, machine.name)
  const step = run.data.value?.steps.find(
    (one) => one.machine === machine.name && (one.phase === "started" || one.phase === "dispatched"),
  )?.title
  return (
    <>
      <Head
        title={
          <>
            <Text>{name}</Text>
            <Power machine={machine} />
          </>
        }
        lead={
          <a href={linkTo("ranges", rangeID)}>
            <Text>{rangeID}</Text>
          </a>
        }
      >
        {machine.poweredOn ? (
          <a class="button primary" href={linkTo("ranges", rangeID, "console", vmid)}>
            <Icon name="screen" />
            {t.range.console}
          </a>
        ) : (
          <button type="button" class="primary" disabled={doing.busy} onClick={() => act(rangeID, machine)("poweron")}>
            <Icon name="play" />
            {t.range.start}
          </button>
        )}
        <More name={name} machine={machine} act={act(rangeID, machine)} />
      </Head>
      <Outcome doing={doing} />
      {step === undefined ? null : (
        <Note tone="busy">
          <Text>{texts.atWork(step)}</Text>
        </Note>
      )}
      <Lacking of={detail} />
      <div class="grid">
        <Facts machine={machine} detail={detail.data.value} />
        {detail.data.value === undefined || detail.data.value.isRouter ? null : (
          <Connect rangeID={rangeID} vmid={vmid} os={detail.data.value.os} />
        )}
        {detail.data.value?.os === "windows" ? <Windows machine={detail.data.value} name={name} /> : null}
        {run.data.value === undefined ? null : <LastSteps run={run.data.value} name={machine.name} />}
        <SnapshotsOf rangeID={rangeID} vmid={machine.proxmoxID} />
      </div>
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </>
  )
}
