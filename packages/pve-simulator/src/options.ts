import { parseArgs } from "node:util"
import { readTemplate, type TemplateSpec } from "./core/template-names.ts"

/** The command line options of the stand-alone simulator. */
export interface CommandLine {
  readonly port: number
  /** Undefined: loopback, or with real hosts the address of their link. */
  readonly host: string | undefined
  readonly nodes: number
  readonly seed: number
  readonly speed: number
  readonly sshPort: number | undefined
  readonly state: string | undefined
  readonly tls: boolean
  readonly realHosts: boolean
  readonly screens: boolean
  /** Templates in addition to those of common labs. */
  readonly templates: readonly TemplateSpec[]
  readonly help: boolean
}

/** The text of `--help`. */
export const usage = `A Proxmox VE API without a hypervisor.

  npm run simulator -- [options]

  --port N       port of the REST API                      (18006; 0: any free one)
  --host ADDR    address to listen on                      (127.0.0.1;
                 with real hosts their network's own)
  --nodes N      nodes of the cluster, 1 to 32; several    (1)
                 come with the VXLAN zone ludus, applied
  --seed N       same seed: same ids, addresses, secrets   (1)
  --speed N      how many times as fast as real machines   (1)
  --ssh-port N   also serve SSH to the first node          (off)
  --state FILE   read the state at start, write it at stop;
                 the certificate is stored next to it (FILE.pem)
  --no-tls       plain HTTP
  --real-hosts   run a real host for each VM with Linux:   (off)
                 a network namespace with an SSH server on
                 this machine; needs Linux and root
  --screens      QEMU's own screen for each VM that is     (a small picture)
                 viewed; needs qemu-system-x86_64
  --template T   one more template, NAME or NAME=SYSTEM    (those of common labs:
                 (windows, debian, ubuntu, …); repeatable   Windows, Debian, Ubuntu, …)
  --help         this text
`

/** An invalid command line; the message is one line. */
export class UsageError extends Error {}

const wholeNumber = (name: string, text: string, least: number, most: number): number => {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < least || value > most)
    throw new UsageError(`--${name} must be a whole number from ${least} to ${most}, not '${text}'`)
  return value
}

const positive = (name: string, text: string, most: number): number => {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0 || value > most)
    throw new UsageError(`--${name} must be a number above 0, at most ${most}, not '${text}'`)
  return value
}

const template = (text: string): TemplateSpec => {
  try {
    return readTemplate(text)
  } catch (error) {
    throw new UsageError(`--template: ${(error as Error).message}`)
  }
}

/** Reads the arguments after the program's name. */
export const parseCommandLine = (args: readonly string[]): CommandLine => {
  const values = parse(args)
  if (values["real-hosts"] && values.state !== undefined)
    throw new UsageError("--real-hosts and --state do not go together: what real hosts hold cannot be written into a state file")
  return {
    port: wholeNumber("port", values.port, 0, 65_535),
    host: values.host,
    nodes: wholeNumber("nodes", values.nodes, 1, 32),
    seed: wholeNumber("seed", values.seed, 0, 4_294_967_295),
    speed: positive("speed", values.speed, 100_000),
    sshPort: values["ssh-port"] === undefined ? undefined : wholeNumber("ssh-port", values["ssh-port"], 0, 65_535),
    state: values.state,
    tls: values.tls,
    realHosts: values["real-hosts"],
    screens: values.screens,
    templates: values.template.map(template),
    help: values.help,
  }
}

const parse = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      allowNegative: true,
      options: {
        port: { type: "string", default: "18006" },
        host: { type: "string" },
        nodes: { type: "string", default: "1" },
        seed: { type: "string", default: "1" },
        speed: { type: "string", default: "1" },
        "ssh-port": { type: "string" },
        state: { type: "string" },
        tls: { type: "boolean", default: true },
        "real-hosts": { type: "boolean", default: false },
        screens: { type: "boolean", default: false },
        template: { type: "string", multiple: true, default: [] },
        help: { type: "boolean", default: false },
      },
    }).values
  } catch (error) {
    throw new UsageError((error as Error).message.split(/\. |\n/)[0]!)
  }
}
