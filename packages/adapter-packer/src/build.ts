import { coverOf } from "@rangewright/domain"
import { BuildFault, type TemplateBuild } from "@rangewright/ports"
import {
  interruptWithin,
  permission,
  prepareRun,
  type ProcessEnd,
  runCommand,
  type ToolHost,
  untilLarger,
} from "@rangewright/host-tools"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { writeFile } from "node:fs/promises"
import { constants } from "node:os"
import { join } from "node:path"
import { openAccountCalls } from "./account-calls.ts"
import { answerPorts, serveAnswers } from "./answers.ts"
import { availabilityOf, type Found, lookAround } from "./availability.ts"
import { cleanLines, cleanLine } from "./clean-lines.ts"
import { doorName, openDoor } from "./door.ts"
import { buildFolders, failed } from "./files.ts"
import { openImageStorage } from "./image-storage.ts"
import type { Images } from "./images.ts"
import { lookAtMachine } from "./machine-state.ts"
import type { NextNumbers } from "./next-numbers.ts"
import type { Settings } from "./options.ts"
import type { MayServeAt } from "./port-shares.ts"
import { environmentOf, machinePorts, named, packerCommand, templateSeen, variablesOf } from "./variables.ts"
import { takenPorts } from "./taken-ports.ts"
import { tellWaiting } from "./waiting.ts"

/** Output limit, beyond which Packer is taken to run forever. */
const outputBytes = 64 * 1024 * 1024
const flushMillis = 1000
const answerPortList = Array.from({ length: answerPorts.last - answerPorts.first + 1 }, (_, i) => answerPorts.first + i)
const { signals } = constants
/** Time limit for checking the state of a machine that a build waits for. */
const lookMillis = 10_000

/** Why the node may not download from a URL; undefined when the address is public. */
const refusesWith =
  (host: ToolHost) =>
  async (text: string): Promise<string | undefined> => {
    const url = URL.parse(text)
    if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return "only http and https are fetched"
    if (url.username !== "" || url.password !== "") return "it contains a login"
    const port = url.port === "" ? (url.protocol === "http:" ? 80 : 443) : Number(url.port)
    const allowed = await permission(
      { networks: [], servers: [], internet: host.internet },
      host.surroundings,
      url.hostname.replace(/^\[|\]$/gu, ""),
      port,
    )
    return "because" in allowed ? allowed.because : undefined
  }

/** Packer's last message that explains its failure. */
const reasonIn = (said: readonly string[]): string => {
  const errored = said.filter((line) => /errored(?: after [^:]*)?: /u.test(line)).at(-1)
  const telling =
    errored?.replace(/^.*errored(?: after [^:]*)?: /u, "") ??
    said
      .filter((line) => line.trim() !== "")
      .slice(-3)
      .join(" ")
  return telling.trim().slice(-1000)
}

const killed = (doing: string, signal: string): BuildFault =>
  failed(doing, `Packer was killed (${signal}): it used more memory or processes than a build may, or this host killed it`)

/** Exit code of the sandbox when its program is killed, without the number of the signal. */
const killedCode = 128

const faultOf = (doing: string, end: ProcessEnd, said: readonly string[]): BuildFault | undefined => {
  switch (end.type) {
    case "exited": {
      if (end.code === 0) return undefined
      const signal = Object.entries(signals).find(([, number]) => end.code === killedCode + number)?.[0]
      if (signal !== undefined) return killed(doing, signal)
      return failed(doing, reasonIn(said) || `Packer ended with exit code ${end.code}`, "The log of the build says more.")
    }
    case "killed":
      return killed(doing, end.signal)
    case "flooded":
      return failed(doing, `it printed more than ${outputBytes / 1024 ** 2} MiB`)
    case "not-started":
      return new BuildFault({ doing, reason: "missing", detail: `Packer cannot be started: ${end.because}` })
  }
}

/** Why a build was stopped from outside. */
type Stopped = { readonly type: "too-large" } | { readonly type: "too-long" }

/** State shared by builds. */
export interface Shared {
  readonly images: Images | undefined
  readonly numbers: NextNumbers
  readonly portShare: Effect.Effect<MayServeAt, never, Scope.Scope>
}

/** Whether a template names its ports, of which none may be kept from it. */
const namesPorts = ({ files, builderFile }: Pick<TemplateBuild, "files" | "builderFile">, doing: string) => {
  const entry = files.find(({ path }) => path === builderFile)
  return entry?.kind === "file"
    ? entry.read.pipe(
        Effect.map((bytes) => new TextDecoder().decode(bytes).includes("http_port")),
        Effect.mapError(({ message }) => failed(doing, message)),
      )
    : Effect.succeed(false)
}

/** Runs Packer for one build, from creating its folders until its last process has ended. */
export const buildWith = (
  settings: Settings,
  { images, numbers, portShare }: Shared,
  build: TemplateBuild,
): Effect.Effect<void, BuildFault> => {
  const doing = `build template ${build.template}`
  const { account } = build
  const ofHost = Effect.mapError((error: Error) => failed(doing, `the service's host failed: ${error.message}`))
  return Effect.scoped(
    Effect.gen(function* () {
      const found: Found = yield* lookAround(settings)
      const able = availabilityOf(found)
      if (!able.available)
        return yield* new BuildFault({ doing, reason: "missing", detail: able.because.join("; "), hint: able.hint })
      const address = found.address ?? ""
      const bridge = yield* Effect.mapError(settings.bridge, ({ message }) => failed(doing, message))
      const { host } = found
      const lines = cleanLines(coverOf({}, [Redacted.value(account.password), Redacted.value(account.tokenSecret)]))
      const handOn = Effect.suspend(() => {
        const text = lines.take()
        return text === "" ? Effect.void : build.output(text)
      })
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(flushMillis), Effect.uninterruptible(handOn))))
      const storage = openImageStorage(settings.hypervisor, account, { node: build.node, storage: settings.isoStorage })
      const template = { ...build, doing, storage, say: lines.say }
      const files = images === undefined ? build.files : yield* Effect.ensuring(images.use(template), handOn)
      const places = yield* buildFolders(settings.folder, { ...build, files }, doing)
      const { work } = places
      yield* ofHost(
        Effect.tryPromise({
          try: () =>
            writeFile(
              join(work, "variables.json"),
              JSON.stringify(variablesOf(settings, build, `${work}/home/.ansible`, bridge)),
              { mode: 0o600 },
            ),
          catch: (cause) => new Error(String(cause)),
        }),
      )
      const mayServeAt = (yield* namesPorts(template, doing)) ? undefined : yield* portShare
      const inUse = yield* Effect.promise(() => takenPorts(answerPorts))
      const ofOthers = mayServeAt === undefined ? [] : answerPortList.filter((port) => !mayServeAt(port))
      const said: string[] = []
      const call = openAccountCalls(settings.hypervisor, account)
      const waiting = tellWaiting({
        say: lines.say,
        look: (node, vmid) =>
          lookAtMachine((path) =>
            call("GET", `/nodes/${encodeURIComponent(node)}/qemu/${vmid}${path}`, AbortSignal.timeout(lookMillis)),
          ),
      })
      const door = openDoor({
        hypervisor: settings.hypervisor,
        account,
        caps: settings.caps,
        numbers,
        nodeDownloads: settings.nodeDownloads,
        refuses: refusesWith(host),
        onCall: waiting.onCall,
        onRefused: lines.say,
      })
      yield* Effect.addFinalizer(() => Effect.sync(door.close))
      const { confine, limits } = yield* ofHost(
        prepareRun(host, {
          folder: work,
          mounts: [{ from: places.template, to: templateSeen }, ...found.mounts],
          reach: {
            networks: settings.networks,
            ports: machinePorts,
            servers: [{ host: doorName, port: 80, addresses: [doorName] }],
            internet: true,
          },
          dial: (to, port) => (to === doorName ? door.dial(to, port) : host.dial(to, port)),
          onRefused: (because) => lines.say(because),
          among: {
            address,
            networks: settings.networks.map(({ text }) => text),
            ports: machinePorts,
            named,
            taken: [...new Set([...inUse, ...ofOthers])],
          },
        }),
      )
      yield* serveAnswers({
        folder: work,
        address,
        networks: settings.networks,
        onFetched: waiting.onFetched,
        say: lines.say,
      })
      const [program = "", ...args] = confine(packerCommand(settings, build.builderFile, work))
      const command = {
        program,
        args,
        env: environmentOf(settings, build, places, bridge, address),
        folder: work,
        fileBytes: settings.diskBytes,
        ...limits,
      }
      lines.say(`Packer ${found.version} builds ${build.template} on ${build.node}; machines reach this host at ${address}`)
      const tool = yield* Effect.forkScoped(
        runCommand(command, outputBytes, (_, line) => {
          lines.add(line)
          said.push(cleanLine(line))
          if (said.length > 200) said.splice(0, 100)
        }),
      )
      /** When interrupted, Packer removes what it created; it gets time for that. */
      const stop = Effect.gen(function* () {
        const heard = yield* Effect.promise(() => interruptWithin(work))
        if (heard) {
          lines.say("the build is being stopped: Packer cleans up")
          yield* Effect.timeoutOption(Fiber.await(tool), settings.patienceSeconds * 1000)
        }
        yield* Fiber.interrupt(tool)
        yield* handOn
      })
      const stopped = (type: Stopped["type"]) => (): Stopped => ({ type })
      const end: ProcessEnd | Stopped = yield* Effect.raceAllFirst([
        Fiber.join(tool),
        Effect.map(untilLarger([work], settings.diskBytes), stopped("too-large")),
        Effect.map(Effect.sleep(settings.longestSeconds * 1000), stopped("too-long")),
      ]).pipe(Effect.onInterrupt(() => stop))
      if (end.type === "too-large" || end.type === "too-long") yield* stop
      yield* handOn
      if (end.type === "too-large")
        return yield* failed(
          doing,
          `its files took more than ${Math.round(settings.diskBytes / 1024 ** 3)} GiB of the service's host`,
        )
      if (end.type === "too-long")
        return yield* new BuildFault({
          doing,
          reason: "timeout",
          detail: `it took longer than ${settings.longestSeconds / 3600} hours`,
        })
      const fault = faultOf(doing, end, said)
      if (fault !== undefined) return yield* fault
    }),
  )
}
