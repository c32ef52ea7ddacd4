import { execFileSync, spawn, spawnSync } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import ssh2 from "ssh2"
import { type KeyPair, makeKeys } from "../../contracts/content/support/git-ssh.ts"

const programs = ["apt-get", "apt-mark", "dpkg-deb", "dpkg-query", "setsid", "unshare"]

const findObstacle = (): string | undefined => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "namespaces of mounts need root on Linux"
  const absent = programs.find((name) => !["/usr/bin", "/usr/sbin", "/bin"].some((folder) => existsSync(join(folder, name))))
  if (absent !== undefined) return `${absent} is not installed`
  const probe = spawnSync("unshare", ["--mount", "--propagation", "private", "mount", "--bind", "/tmp", "/opt"])
  return probe.status === 0 ? undefined : "namespaces of mounts cannot be made"
}

/** Why this machine cannot run apt and dpkg isolated from its own packages; undefined: it can. */
export const packageObstacle = findObstacle()

/**
 * Runs its arguments with the folders of dpkg and apt replaced by those of `$1`, in a mount namespace of the command's own. If that fails,
 * nothing runs: the packages of this host are never touched.
 */
const inRoot = `
root=$1; shift
mount --bind "$root/lib" /var/lib
mount --bind "$root/cache" /var/cache
mount --bind "$root/log" /var/log
mount --bind "$root/etc" /etc/apt
mount --bind "$root/opt" /opt
exec "$@"`

const commandIn = (root: string, words: readonly string[]): readonly string[] => [
  "--mount",
  "--propagation",
  "private",
  "sh",
  "-euc",
  inRoot,
  "sh",
  root,
  ...words,
]

/** Builds a package as a file of this many bytes; its installation waits while `/opt/hold` exists. Returns the file. */
export const buildPackage = (folder: string, name: string, version: string, control = "", bytes = 10): string => {
  const tree = join(folder, `.build-${name}-${version}`)
  mkdirSync(join(tree, "DEBIAN"), { recursive: true })
  mkdirSync(join(tree, "opt"), { recursive: true })
  writeFileSync(join(tree, "opt", name), randomBytes(bytes))
  const fields = [
    `Package: ${name}`,
    `Version: ${version}`,
    "Architecture: amd64",
    "Maintainer: Nobody <nobody@example.org>",
    "Description: what a test installs",
    ...(control === "" ? [] : [control]),
  ]
  writeFileSync(join(tree, "DEBIAN/control"), `${fields.join("\n")}\n`)
  writeFileSync(
    join(tree, "DEBIAN/postinst"),
    "#!/bin/sh\nif [ -e /opt/hold ]; then touch /opt/held; while [ -e /opt/hold ]; do sleep 0.05; done; fi\n",
    { mode: 0o755 },
  )
  const file = join(folder, `${name}_${version}_amd64.deb`)
  execFileSync("dpkg-deb", ["-Znone", "--build", "--root-owner-group", tree, file], { stdio: "pipe" })
  return file
}

/** A repository of the packages in a folder. */
const indexOf = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".deb"))
    .map((name) => {
      const file = join(folder, name)
      const sum = createHash("sha256").update(readFileSync(file)).digest("hex")
      const control = execFileSync("dpkg-deb", ["--field", file]).toString()
      return `${control}Filename: ./${name}\nSize: ${statSync(file).size}\nSHA256: ${sum}\n`
    })
    .join("\n")

/** A node with its own dpkg and apt, an empty package database, and an SSH server that runs the commands of root there. */
export const openPackageNode = async (root: string, client: KeyPair) => {
  for (const path of [
    ...["info", "updates", "triggers", "alternatives"].map((name) => `lib/dpkg/${name}`),
    "lib/apt/lists/partial",
    "cache/apt/archives/partial",
    "log/apt",
    "etc/apt.conf.d",
    "etc/preferences.d",
    "etc/sources.list.d",
    "etc/trusted.gpg.d",
    "opt",
    "repository",
  ])
    mkdirSync(join(root, path), { recursive: true })
  for (const file of ["status", "available"]) writeFileSync(join(root, "lib/dpkg", file), "")
  writeFileSync(join(root, "etc/sources.list"), `deb [trusted=yes] file:${root}/repository ./\n`)
  const run = (...words: readonly string[]): string =>
    execFileSync("unshare", commandIn(root, words), { stdio: ["ignore", "pipe", "pipe"] }).toString()

  const host = makeKeys()
  const commands: string[] = []
  const server = new ssh2.Server({ hostKeys: [host.privateKey] }, (connection) => {
    connection.on("error", () => {})
    // the types lack this; without it every answer waits for a delayed acknowledgement
    ;(connection as unknown as { readonly setNoDelay: (on: boolean) => void }).setNoDelay(true)
    connection.on("authentication", (context) => {
      const isRoot = context.username === "root" && context.method === "publickey" && context.key.data.equals(client.publicBlob)
      return isRoot ? context.accept() : context.reject(["publickey"])
    })
    connection.on("session", (accept) =>
      accept().on("exec", (acceptExec, _reject, { command }) => {
        commands.push(command)
        const channel = acceptExec()
        channel.on("error", () => {})
        // like sshd, it does not end running commands when the connection ends
        const child = spawn("unshare", commandIn(root, ["sh", "-c", command]), { stdio: ["pipe", "pipe", "pipe"] })
        channel.pipe(child.stdin).on("error", () => {})
        child.stdout.pipe(channel, { end: false })
        child.stderr.pipe(channel.stderr)
        child.on("close", (code) => {
          channel.exit(code ?? 1)
          channel.end()
        })
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()))
  return {
    run,
    commands,
    /** As the configuration names the node. */
    address: `127.0.0.1:${(server.address() as AddressInfo).port} SHA256:${createHash("sha256").update(host.publicBlob).digest("base64").replace(/=+$/u, "")}`,
    path: (name: string): string => join(root, name),
    /** Offers these packages in the node's repository. */
    offer: (files: readonly string[]): void => {
      for (const file of files) copyFileSync(file, join(root, "repository", file.slice(file.lastIndexOf("/") + 1)))
      writeFileSync(join(root, "repository/Packages"), indexOf(join(root, "repository")))
      run("apt-get", "--quiet", "update")
    },
    /** The version of each package, with `hi ` if it is held. */
    installed: (): readonly string[] =>
      run("dpkg-query", "--show", "--showformat=${db:Status-Abbrev}${Package} ${Version}\\n").trim().split("\n"),
    close: (): Promise<void> => new Promise((resolve) => server.close(() => resolve())),
  }
}
export type PackageNode = Awaited<ReturnType<typeof openPackageNode>>
