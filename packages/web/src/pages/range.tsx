import type { Change, Range, RunHead, Topology } from "@rangewright/application/wire"
import { useEffect } from "preact/hooks"
import { fetchFile, vpnFile } from "../api/client.ts"
import { type Resource, useAllRead, useRead } from "../api/resource.ts"
import { Icon } from "../parts/icon.tsx"
import { CardTable, Lacking, Unread } from "../parts/list.tsx"
import { Confirm, type Doing, Empty, Loading, Note, Outcome, Refused, State, Text, Time, useDoing } from "../parts/parts.tsx"
import { Files, textOf } from "../range/files.tsx"
import { Picture } from "../range/picture.tsx"
import { mayBeChanging, RangeHead, type RangeView, useRange } from "../range/range-head.tsx"
import { Removal } from "../range/removal.tsx"
import { Reset } from "../range/reset.tsx"
import { More, Power, useMachineActions } from "../range/machine-actions.tsx"
import { patchTopology } from "../range/topology.ts"
import { kindOf, runTone, shortName, testingText } from "../range/sentence.ts"
import { linkTo } from "../links.ts"
import { capabilities } from "../me.ts"
import { t } from "../texts.ts"
import { Timer } from "./range-timer.tsx"

const Machines = ({
  range,
  doing,
  isPlain,
}: {
  readonly range: Range
  readonly doing: Doing
  /** Whether its configuration has no machine either. */
  readonly isPlain: boolean
}) => {
  const { question, act } = useMachineActions(doing)
  const { rangeID, VMs } = range
  return (
    <section aria-labelledby="machines">
      <h2 id="machines">{t.range.machines}</h2>
      {VMs.length === 0 ? (
        <Empty title={t.range.noMachines}>
          {isPlain ? (
            <>
              <p class="muted">{t.range.plainText}</p>
              <p>
                <a class="button" href={linkTo("ranges", rangeID, "config")}>
                  {t.range.toConfig}
                </a>{" "}
                <a class="button" href={linkTo("blueprints")}>
                  {t.range.toBlueprints}
                </a>
              </p>
            </>
          ) : null}
        </Empty>
      ) : (
        <CardTable columns={Object.values(t.range.columns)}>
          {VMs.map((machine) => (
            <tr key={machine.proxmoxID} id={`machine-${machine.proxmoxID}`} tabIndex={-1}>
              <th scope="row">
                <a href={linkTo("ranges", rangeID, "machines", String(machine.proxmoxID))}>
                  <Text>{shortName(rangeID, machine.name)}</Text>
                </a>
                <span class="sub">
                  <span class="mono">{machine.proxmoxID}</span>
                  {machine.isRouter === true ? <span class="tag">{t.range.router}</span> : null}
                </span>
              </th>
              <td data-label={t.range.columns.state}>
                <Power machine={machine} />
              </td>
              <td data-label={t.range.columns.address} class="mono">
                {machine.ip === "null" ? <span class="muted">{t.range.noAddress}</span> : <Text>{machine.ip}</Text>}
              </td>
              <td data-label={t.range.columns.size} class="muted tight">
                {t.range.size(machine.cpu, machine.ram)}
              </td>
              <td class="row-actions">
                {machine.poweredOn ? (
                  <a
                    class="button small"
                    href={linkTo("ranges", rangeID, "console", String(machine.proxmoxID))}
                    aria-label={t.range.consoleOf(shortName(rangeID, machine.name))}
                  >
                    <Icon name="screen" />
                    {t.range.console}
                  </a>
                ) : null}
                <More name={shortName(rangeID, machine.name)} machine={machine} act={act(rangeID, machine)} />
              </td>
            </tr>
          ))}
        </CardTable>
      )}
      <Confirm question={question.value} onClose={() => (question.value = undefined)} />
    </section>
  )
}

const hasWindows = ({ lanes }: Topology): boolean =>
  lanes.some(({ machines }) => machines.some(({ os, vmid }) => os === "windows" && vmid !== undefined))

const Connect = ({ rangeID, desktops }: { readonly rangeID: string; readonly desktops: boolean }) => (
  <section class="card" aria-labelledby="connect">
    <h2 id="connect">{t.range.connect}</h2>
    <p class="muted">{capabilities.value?.features.vpn === true ? t.range.connectText : t.range.connectNoVpn}</p>
    <Files
      files={[
        ...(capabilities.value?.features.vpn === true ? [{ title: t.range.vpn, name: "rangewright.conf", get: vpnFile }] : []),
        ...(desktops
          ? [{ title: t.range.rdp, name: `${rangeID}-rdp.zip`, get: () => fetchFile("/range/rdpconfigs", { rangeID }) }]
          : []),
        { title: t.range.ssh, name: `${rangeID}-ssh-config.txt`, get: () => textOf("/range/sshconfig", { rangeID }) },
        { title: t.range.hosts, name: `${rangeID}-hosts.txt`, get: () => textOf("/range/etchosts", { rangeID }) },
        { title: t.range.inventory, name: `${rangeID}-inventory.yml`, get: () => textOf("/range/ansibleinventory", { rangeID }) },
        { title: t.range.credentials, name: `${rangeID}-logins.zip`, get: () => fetchFile("/range/credentials", { rangeID }) },
      ]}
    />
    <p class="hint">{t.range.credentialsText}</p>
  </section>
)

const LastRuns = ({ id, runs }: { readonly id: string; readonly runs: Resource<readonly RunHead[]> }) => (
  <section class="card" aria-labelledby="runs">
    <h2 id="runs">{t.range.lastRuns}</h2>
    <Unread of={runs} />
    {runs.data.value?.length === 0 ? (
      <p class="muted">{t.range.noRuns}</p>
    ) : (
      <ul class="plain lines">
        {runs.data.value?.map((run) => (
          <li key={run.id}>
            <a href={linkTo("runs", run.id)}>{kindOf(run.kind)}</a>
            <State tone={runTone(run.status)}>{t.runStatus[run.status]}</State>
            <span class="muted">
              <Time at={run.startedAt} />
            </span>
          </li>
        ))}
      </ul>
    )}
    <p>
      <a href={`/ui/runs?range=${encodeURIComponent(id)}`}>{t.range.allRuns}</a>
    </p>
  </section>
)

const Rules = ({ topology: { rules, defaults } }: { readonly topology: Topology }) => (
  <details class="rules">
    <summary>{t.range.rules(rules.length)}</summary>
    {defaults === undefined ? null : (
      <p class="muted">{t.range.ruleDefaults(defaults.betweenVlans, defaults.outside, defaults.vpn)}</p>
    )}
    {rules.length === 0 ? null : (
      <CardTable columns={Object.values(t.range.ruleColumns)}>
        {rules.map(({ name, from, to, protocol, ports, verdict }, at) => (
          <tr key={at}>
            <th scope="row">
              <Text>{name}</Text>
            </th>
            <td data-label={t.range.ruleColumns.from}>{from}</td>
            <td data-label={t.range.ruleColumns.to}>{to}</td>
            <td data-label={t.range.ruleColumns.ports}>
              {protocol} {ports}
            </td>
            <td data-label={t.range.ruleColumns.verdict}>{verdict}</td>
          </tr>
        ))}
      </CardTable>
    )}
  </details>
)

const Network = ({ shown }: { readonly shown: Resource<Topology> }) => {
  const topology = shown.data.value
  if (topology === undefined ? shown.refusal.value === undefined : topology.lanes.length === 0) return null
  return (
    <section aria-labelledby="picture">
      <h2 id="picture">{t.range.picture}</h2>
      {topology === undefined ? (
        <Lacking of={shown} />
      ) : (
        <>
          <Picture topology={topology} />
          <Rules topology={topology} />
        </>
      )}
    </section>
  )
}

interface Drift {
  readonly inSync: boolean
  readonly differences: readonly Change[]
}

/** The drift, read while nothing changes the range. */
const useDrift = (id: string, { range, run }: RangeView): Resource<Drift> => {
  const isChanging = range.data.value?.rangeState !== "SUCCESS" || run.data.value?.status === "running"
  const drift = useRead<Drift>(
    isChanging ? undefined : "/range/drift",
    { rangeID: id },
    ({ topic, rangeID }) => topic !== "run" && rangeID === id,
  )
  // changes that Proxmox keeps for a machine's next start raise no event, so it is read again when the page becomes visible
  useEffect(() => {
    const readAgain = (): void => void (document.hidden || drift.reload())
    document.addEventListener("visibilitychange", readAgain)
    return () => document.removeEventListener("visibilitychange", readAgain)
  }, [drift])
  return drift
}

/** Says that the range differs from its configuration, with a link to what a deploy would do about it. */
const Differs = ({ id, drift }: { readonly id: string; readonly drift: Resource<Drift> }) => {
  if (drift.data.value === undefined) return <Lacking of={drift} />
  const { inSync, differences } = drift.data.value
  if (inSync) return null
  const names = differences.slice(0, 3).map(({ object }) => shortName(id, object))
  return (
    <Note tone="warn">
      <Text>{t.range.differs(names, differences.length)}</Text> <a href={linkTo("ranges", id, "plan")}>{t.range.differsPlan}</a>
    </Note>
  )
}

export const RangePage = ({ values }: { readonly values: Readonly<Record<string, string>> }) => {
  const id = values["id"] ?? ""
  const view = useRange(id)
  const doing = useDoing()
  const shown = useRead<Topology>("/range/topology", { rangeID: id }, (event) => event.rangeID === id, patchTopology)
  const topology = shown.data.value
  const range = view.range.data.value
  const refusal = view.range.refusal.value
  const drift = useDrift(id, view)
  // data about machines waits for what is above it, so that nothing moves while somebody clicks
  const isWhole = useAllRead(view.range, view.runs, view.run, shown, drift)
  return (
    <>
      <RangeHead id={id} view={view}>
        {range === undefined ? null : <Reset range={range} doing={doing} />}
      </RangeHead>
      {refusal === undefined ? null : <Refused refusal={refusal} retry={() => void view.range.reload()} />}
      {range === undefined ? null : !isWhole ? (
        <Loading />
      ) : (
        <>
          {range.testingState === "off" ? null : <Note tone="warn">{testingText(range, mayBeChanging(view))}</Note>}
          {range.doubt === undefined ? null : (
            <Note tone="warn">
              <Text>{t.sentence.doubt(range.doubt.reason)}</Text>
            </Note>
          )}
          {range.guestAutomation === "none" ? <Note tone="warn">{t.sentence.noGuests}</Note> : null}
          <Differs id={id} drift={drift} />
          <Outcome doing={doing} />
          <div class="columns">
            <div>
              <Network shown={shown} />
              <Machines range={range} doing={doing} isPlain={topology?.lanes.length === 0} />
            </div>
            <aside>
              <Connect rangeID={range.rangeID} desktops={topology === undefined || hasWindows(topology)} />
              <LastRuns id={id} runs={view.runs} />
              <Timer id={id} />
              <section class="card" aria-labelledby="facts">
                <h2 id="facts">{t.range.facts}</h2>
                <dl class="facts">
                  <dt>{t.ranges.name}</dt>
                  <dd>
                    <Text>{range.name}</Text>
                  </dd>
                  <dt>{t.range.number}</dt>
                  <dd>{range.rangeNumber}</dd>
                  <dt>{t.ranges.columns.changed}</dt>
                  <dd>
                    <Time at={range.lastDeployment} />
                  </dd>
                  <dt>{t.range.seen}</dt>
                  <dd>
                    <Time at={range.observedAt} />
                  </dd>
                </dl>
                {range.description === undefined ? null : (
                  <p class="lines">
                    <Text>{range.description}</Text>
                  </p>
                )}
              </section>
              {view.run.data.value?.status === "running" ? null : <Removal range={range} doing={doing} />}
            </aside>
          </div>
        </>
      )}
    </>
  )
}
