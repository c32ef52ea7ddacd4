import type { NamedServer, ToolHost } from "@rangewright/host-tools"

/** One run of git on one bare repository. */
export interface GitCommand {
  readonly doing: string
  readonly program: string
  readonly repository: string
  readonly args: readonly string[]
  /** Settings for this run only, `key=value`; no secrets, since the process table shows them. */
  readonly config: readonly string[]
  /** Paths of files with secrets, never the secrets. */
  readonly env: Readonly<Record<string, string>>
  readonly input?: string
  /** Largest size of any file. A write beyond it must fail with a message, not with a signal. */
  readonly fileBytes: number
  readonly memoryBytes: number
  readonly confinement: Confinement
}

/** Where git runs, and what it can access besides its repository. */
export interface Confinement {
  readonly host: ToolHost
  /** A folder for this work only. */
  readonly scratch: string
  readonly mounts: readonly string[]
  readonly servers: readonly NamedServer[]
}

/** Built from scratch: no configuration, proxy, key or helper of the host or of a person reaches git. */
export const environment: Readonly<Record<string, string>> = {
  PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
  LC_ALL: "C",
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "/bin/false",
  SSH_ASKPASS: "/bin/false",
  GIT_SSH_COMMAND: "/bin/false",
  GIT_SSH_VARIANT: "ssh",
  // overrides protocol.* of any configuration; a run that connects allows just its own transport
  GIT_ALLOW_PROTOCOL: "none",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_NO_REPLACE_OBJECTS: "1",
  GIT_NO_LAZY_FETCH: "1",
  GIT_LFS_SKIP_SMUDGE: "1",
  // whatever newer versions prefer: caches are looked into
  GIT_DEFAULT_REF_FORMAT: "files",
}

const settings = [
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.symlinks=false",
  "core.protectHFS=true",
  "core.protectNTFS=true",
  // larger blobs are streamed, not held in memory
  "core.bigFileThreshold=4m",
  "core.packedGitLimit=256m",
  "credential.helper=",
  "submodule.recurse=false",
  "fetch.recurseSubmodules=false",
  "fetch.fsckObjects=true",
  // harmless mistakes of old tools
  "fetch.fsck.badTimezone=warn",
  "fetch.fsck.missingSpaceBeforeDate=warn",
  "fetch.fsck.zeroPaddedFilemode=warn",
  // always one pack file, so that the file size limit applies to it
  "fetch.unpackLimit=1",
  "http.followRedirects=false",
  // a server that is still packing sends five bytes every five seconds
  "http.lowSpeedLimit=1",
  "http.lowSpeedTime=30",
  "gc.auto=0",
  "maintenance.auto=false",
  "pack.threads=1",
  "safe.bareRepository=explicit",
]

export const hardening: readonly string[] = settings.flatMap((setting) => ["-c", setting])
