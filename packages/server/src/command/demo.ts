import { renderTopology, type Topology } from "@rangewright/domain"
import { readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { fileURLToPath } from "node:url"
import { loadConfig } from "../config/config.ts"
import { PortError } from "../compose/open-port.ts"
import { startService, type RunningService } from "../compose/service.ts"
import { makeClient, type Client } from "../demo/client.ts"
import { clearKilledDemos, makeDemoFolder } from "../demo/folder.ts"
import { progressView, type Screen } from "../demo/progress.ts"
import type { Arguments } from "./arguments.ts"
import { untilTold } from "./serve.ts"

const example = fileURLToPath(new URL("../../../../examples/ad-lab.yml", import.meta.url))
const usualSpeed = 60
const usualPort = 8080
const host = "127.0.0.1"
const usualColumns = 120

interface PlanView {
  readonly text: string
}
interface RangeView {
  readonly rangeState: string
  readonly rangeNumber: number
  readonly VMs: readonly {
    readonly name: string
    readonly ip: string
    readonly poweredOn: boolean
    readonly isRouter?: boolean
  }[]
}

const say = (text: string): void => void process.stdout.write(`${text}\n`)
const title = (text: string): void => say(`\n== ${text}`)

const start = async (args: Arguments, data: string): Promise<RunningService> => {
  const onPort = (port: number) =>
    startService(
      loadConfig({
        file: undefined,
        environment: {
          RANGEWRIGHT_DATA: data,
          RANGEWRIGHT_HOST: host,
          RANGEWRIGHT_PORT: String(port),
          RANGEWRIGHT_HYPERVISOR: "simulator",
          RANGEWRIGHT_SIMULATOR_SPEED: String(args.speed ?? usualSpeed),
          // the simulator's guests show ranges with roles that nobody installed
          RANGEWRIGHT_SIMULATOR_ROLES: "any",
          RANGEWRIGHT_OBSERVE_EVERY: "2",
          RANGEWRIGHT_LOG_LEVEL: "error",
        },
      }),
    )
  try {
    return await onPort(args.port ?? usualPort)
  } catch (error) {
    if (!(error instanceof PortError)) throw error
    // never use a port other than the requested one
    if (args.port !== undefined) throw new PortError({ host, port: args.port }, "--port", error.cause as NodeJS.ErrnoException)
    // the usual port is taken: use a free one
    if (error.taken) return onPort(0)
    throw error
  }
}

const deploy = async (admin: Client, rangeId: string): Promise<RangeView> => {
  const screen: Screen = {
    live: process.stdout.isTTY,
    // a terminal that does not know its size reports 0
    columns: process.stdout.columns > 0 ? process.stdout.columns : usualColumns,
    write: (text) => void process.stdout.write(text),
  }
  const view = progressView(screen)
  const { runID } = await admin.send<{ readonly runID: string }>("POST", `/api/v2/range/deploy?rangeID=${rangeId}`, {})
  await admin.follow(`/api/v2/runs/${runID}/events`, view.event)
  view.end()
  const run = await admin.send<{ readonly status: string; readonly message: string }>("GET", `/api/v2/runs/${runID}`)
  if (run.status !== "success") say(`  ${run.status}: ${run.message}`)
  return admin.send<RangeView>("GET", `/api/v2/range?rangeID=${rangeId}`)
}

/** Resolves when the demo must end early: on a signal, or when the reader of its output has gone. */
const untilOver = (): Promise<unknown> =>
  Promise.race([untilTold(), new Promise((resolve) => process.stdout.on("error", resolve))])

const run = async (args: Arguments, data: string): Promise<number> => {
  const over = untilOver().then(() => say("\nStopping, and removing the demo's data."))
  const service = await start(args, data)
  try {
    let code = 1
    const shown = show(args, service).then((isDeployed) => {
      code = isDeployed ? 0 : 1
    })
    await Promise.race([args.once ? shown : shown.then(() => over), over])
    return code
  } finally {
    await service.stop()
  }
}

/** Returns true when the range is deployed. */
const show = async (args: Arguments, service: RunningService): Promise<boolean> => {
  say(
    `Rangewright on its built-in simulator: nothing real happens, and the simulator's clock runs ${args.speed ?? usualSpeed} times as fast as a real one.`,
  )
  const root = makeClient(service.plainUrl, readFileSync(service.rootKeyFile, "utf8").trim())
  title("An administrator and a user")
  const made = (userID: string, name: string, isAdmin: boolean) =>
    root.send<{ readonly apiKey: string }>("POST", "/api/v2/user", {
      userID,
      name,
      email: `${userID.toLowerCase()}@lab.example`,
      isAdmin,
    })
  const admin = await made("ADA", "Ada Admin", true)
  const user = await made("UMA", "Uma User", false)
  say("  ADA (administrator) and UMA (user), each with a range of the same name")
  const client = makeClient(service.plainUrl, user.apiKey)
  const rangeId = "UMA"

  title("The configuration: examples/ad-lab.yml")
  const text = readFileSync(example, "utf8")
  say(
    `  ${(await client.upload<{ readonly result: string }>(`/api/v2/range/config?rangeID=${rangeId}`, "ad-lab.yml", text)).result}`,
  )

  title("The plan")
  say((await client.send<PlanView>("GET", `/api/v2/range/plan?rangeID=${rangeId}`)).text)

  title("The deploy")
  const range = await deploy(client, rangeId)

  title(`${rangeId}: ${range.rangeState}`)
  say(renderTopology(await client.send<Topology>("GET", `/api/v2/range/topology?rangeID=${rangeId}`)))
  for (const vm of range.VMs)
    say(`  ${vm.name.padEnd(28)} ${vm.ip.padEnd(15)} ${vm.poweredOn ? "on" : "off"}${vm.isRouter === true ? "  router" : ""}`)

  const ok = range.rangeState === "SUCCESS"
  if (args.once) {
    say("\nThe service has stopped, and its data is removed. Without --once it serves until Ctrl-C, with calls to try.")
    return ok
  }
  title("Try it")
  say(`  URL  ${service.plainUrl}   (HTTPS on the same port: ${service.urls[0] ?? ""})`)
  say(`  page ${service.plainUrl}/ui/   (sign in with the key)`)
  say(`  key  ${user.apiKey}`)
  say(`  administrator's key  ${admin.apiKey}`)
  const curl = `curl -s -H "X-API-KEY: ${user.apiKey}"`
  say(`  ${curl} ${service.plainUrl}/api/v2/range`)
  say(`  ${curl} "${service.plainUrl}/api/v2/range/logs?tail=20"`)
  say(`  ${curl} -X PUT -H "Content-Type: application/json" -d '{"machines":["all"]}' ${service.plainUrl}/api/v2/range/poweroff`)
  say("\nServing until Ctrl-C.")
  return ok
}

/**
 * Demonstrates the main workflow on the simulator: users, configuration, plan, deploy, addresses. Its data is removed at the end, or by the
 * next demo if this one is killed.
 */
export const demo = async (args: Arguments): Promise<number> => {
  for (const left of clearKilledDemos(tmpdir())) say(`Removed ${left}, the data of a demo that was killed.`)
  const { data, remove } = makeDemoFolder(tmpdir())
  try {
    return await run(args, data)
  } finally {
    remove()
  }
}
