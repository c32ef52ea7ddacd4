import {
  packageFileName,
  packagesToInstall,
  type PackageVersion,
  patchablePackages,
  type SignedPackage,
} from "@rangewright/domain"
import { type NodePackages, type NodeShell, type PackageFile, PackagesFault, type ShellCommand } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { packageFormat, parseArchitecture, parseOffered, parsePackages, saying, simulationProblem } from "./answers.ts"

type Packages = NodePackages["Service"]

/** How long apt waits for another program that installs packages, including one left by an interrupted run of ours. */
const lockSeconds = 600
const changeSeconds = 1800

/** apt, non-interactive and with messages in the language parsed here. dpkg requires administrators' programs on its PATH. */
const apt = [
  "env",
  "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  "DEBIAN_FRONTEND=noninteractive",
  "LC_ALL=C",
  "NEEDRESTART_SUSPEND=1",
  "apt-get",
  "--quiet",
  "--yes",
  "--no-install-recommends",
  "--allow-downgrades",
  "--allow-change-held-packages",
  `--option=DPkg::Lock::Timeout=${lockSeconds}`,
  "--option=Dpkg::Options::=--force-confold",
] as const

/**
 * Runs "$@" so that it continues when the connection breaks: a program killed halfway leaves a half-installed package. Output goes to the
 * file $0.
 */
const detached = 'exec >"$0" 2>&1 </dev/null; exec setsid --wait "$@"'

const folderParent = "/var/lib"
const folderName = /^\/var\/lib\/rangewright-packages\.[A-Za-z0-9]{12}$/u

const hints: readonly (readonly [RegExp, string])[] = [
  [/command not found|no such file|not found$/iu, "The node must be a Proxmox VE host with apt and dpkg, and the account root."],
  [/dpkg was interrupted/iu, "Run dpkg --configure -a on the node, then start again."],
  [
    /could not get lock|unable to acquire/iu,
    "Another program is installing packages on the node: wait until it has finished, then start again.",
  ],
]

/**
 * The packages of nodes, by dpkg and apt over SSH as root. `NodePackages` says what it promises. Arguments are passed as values: no name or
 * answer is interpreted by a shell.
 */
export const sshNodePackages = (nodes: readonly string[], shell: Pick<NodeShell["Service"], "run">): Packages => {
  const fault = (doing: string, reason: "refused" | "unexpected", detail: string) => {
    const hint = hints.find(([said]) => said.test(detail))?.[1]
    return new PackagesFault({ doing, reason, detail, ...(hint === undefined ? {} : { hint }) })
  }
  const ask = (node: string, doing: string, command: ShellCommand) =>
    Effect.mapError(
      shell.run(node, command),
      ({ message }) => new PackagesFault({ doing, reason: "unreachable", detail: message }),
    )
  /** Output of a command that must exit with one of these codes. */
  const run = (
    node: string,
    doing: string,
    [program, ...args]: readonly [string, ...string[]],
    more: Partial<ShellCommand> = {},
    codes = [0],
  ) =>
    Effect.gen(function* () {
      const { exitCode, stdout, stderr } = yield* ask(node, doing, { program, args, timeoutSeconds: 120, ...more })
      if (codes.includes(exitCode)) return stdout
      const said = saying(stderr) || saying(stdout)
      return yield* fault(
        doing,
        "refused",
        `${program === "env" ? "apt-get" : program} says: ${said === "" ? `exit code ${exitCode}` : said}`,
      )
    })
  const understood = <A>(doing: string, read: Result.Result<A, string>): Effect.Effect<A, PackagesFault> =>
    Effect.mapError(Effect.fromResult(read), (detail) => fault(doing, "unexpected", detail))

  const observe: Packages["observe"] = (node) =>
    Effect.gen(function* () {
      const doing = `look at the packages of node ${node}`
      const architecture = yield* understood(doing, parseArchitecture(yield* run(node, doing, ["dpkg", "--print-architecture"])))
      // 1: it does not know all of them
      const listed = yield* run(
        node,
        doing,
        ["dpkg-query", "--show", `--showformat=${packageFormat}`, ...patchablePackages],
        {},
        [0, 1],
      )
      const packages = yield* understood(doing, parsePackages(listed))
      const names = packages.map(({ name }) => name)
      const madison = names.length === 0 ? "" : yield* run(node, doing, ["apt-cache", "madison", ...names])
      const offered = yield* understood(doing, parseOffered(madison))
      return { architecture, packages: packages.map((one) => ({ ...one, offered: offered.get(one.name) ?? [] })) }
    })

  /** Installs `operands`, provided nothing else would be changed. */
  const installed = (
    node: string,
    doing: string,
    folder: string,
    wanted: readonly PackageVersion[],
    operands: readonly string[],
  ) =>
    Effect.gen(function* () {
      const simulated = yield* run(node, doing, [...apt, "--simulate", "install", ...operands])
      const problem = simulationProblem(simulated, wanted)
      if (problem !== undefined) return yield* fault(doing, "refused", problem)
      yield* run(node, doing, [...apt, "--download-only", "install", ...operands], {
        timeoutSeconds: changeSeconds,
      })
      const log = `${folder}/log`
      const { exitCode } = yield* ask(node, doing, {
        program: "sh",
        args: ["-c", detached, log, ...apt, "install", ...operands],
        timeoutSeconds: changeSeconds,
      })
      if (exitCode === 0) return
      const said = saying(yield* run(node, doing, ["tail", "--bytes=2000", log]))
      return yield* fault(doing, "refused", `apt-get says: ${said === "" ? `exit code ${exitCode}` : said}`)
    })

  /** Creates a folder for one change that only root may enter. Removes those left by interrupted changes after a day. */
  const inFolder = <A>(node: string, doing: string, use: (folder: string) => Effect.Effect<A, PackagesFault>) =>
    Effect.gen(function* () {
      // without an operand it installs nothing, waits for other programs, and reports whether dpkg was interrupted
      yield* run(node, doing, [...apt, "install"], { timeoutSeconds: lockSeconds + 120 })
      yield* run(node, doing, [
        "find",
        folderParent,
        "-maxdepth",
        "1",
        "-name",
        "rangewright-packages.*",
        "-mmin",
        "+1440",
        "-exec",
        "rm",
        "-rf",
        "{}",
        "+",
      ])
      const folder = (yield* run(node, doing, [
        "mktemp",
        "--directory",
        `${folderParent}/rangewright-packages.XXXXXXXXXXXX`,
      ])).trim()
      if (!folderName.test(folder))
        return yield* fault(doing, "unexpected", `mktemp printed an unexpected folder: ${saying(folder)}`)
      const removal = Effect.ignore(run(node, doing, ["rm", "-rf", folder]))
      return yield* use(folder).pipe(
        // when the connection broke, apt may still read the folder
        Effect.tapError(({ facts }) => (facts.reason === "unreachable" ? Effect.void : removal)),
        Effect.tap(removal),
      )
    })

  const upload = (node: string, doing: string, path: string, { package: wanted, content }: PackageFile) =>
    Effect.gen(function* () {
      yield* run(node, doing, ["dd", `of=${path}`, "bs=1M", "iflag=fullblock", "conv=fsync", "status=none"], {
        input: content,
        timeoutSeconds: changeSeconds,
      })
      const [sum = ""] = (yield* run(node, doing, ["sha256sum", path])).split(" ")
      if (sum !== wanted.sha256)
        return yield* fault(doing, "refused", `${packageFileName(wanted)} was changed or truncated on the way to the node`)
      const fields = yield* run(node, doing, [
        "dpkg-deb",
        "--show",
        "--showformat=${Package}\\t${Version}\\t${Architecture}",
        path,
      ])
      if (fields.trim() !== [wanted.name, wanted.version, wanted.architecture].join("\t"))
        return yield* fault(
          doing,
          "refused",
          `${packageFileName(wanted)} is signed as ${packageText(wanted)}, but is ${saying(fields)}`,
        )
    })

  return {
    nodes,
    observe,
    install: (node, set, files) => {
      const doing = `install packages on node ${node}`
      const wanted = files.map((file) => file.package)
      return inFolder(node, doing, (folder) =>
        Effect.gen(function* () {
          // whoever held the lock until now may have installed another version
          const missing = packagesToInstall([set], yield* observe(node))
          if (Result.isFailure(missing)) return yield* fault(doing, "refused", missing.failure)
          const paths = files.map((file) => `${folder}/${packageFileName(file.package)}`)
          for (const [i, file] of files.entries()) yield* upload(node, doing, paths[i] ?? "", file)
          yield* installed(node, doing, folder, wanted, paths)
          yield* run(node, doing, ["apt-mark", "hold", ...wanted.map(({ name }) => name)])
        }),
      )
    },
    restore: (node, versions) => {
      const doing = `restore packages on node ${node}`
      return inFolder(node, doing, (folder) =>
        Effect.gen(function* () {
          const operands = versions.map(({ name, version }) => `${name}=${version}`)
          yield* installed(node, doing, folder, versions, operands)
          yield* run(node, doing, ["apt-mark", "unhold", ...versions.map(({ name }) => name)])
        }),
      )
    },
  }
}

const packageText = ({ name, version, architecture }: SignedPackage): string => `${name} ${version} ${architecture}`
