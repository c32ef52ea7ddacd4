import { sshNodePackages, sshShell } from "@rangewright/adapter-proxmox"
import { createKeyFile, packageFolderLayer, signPackages, type SigningKey } from "@rangewright/adapter-subscription"
import { type PackageSet, patchablePackages } from "@rangewright/domain"
import { type NodePackages, PackageFolder, type PackagesFault } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest"
import { type KeyPair, makeKeys } from "../contracts/content/support/git-ssh.ts"
import { removeFolders, temporaryFolder } from "./support/folder.ts"
import { addUser, runEnd } from "./support/lab.ts"
import { buildPackage, openPackageNode, type PackageNode, packageObstacle } from "./support/package-node.ts"
import { endAll } from "./support/program.ts"
import { startService } from "./support/service.ts"

const patience = 240_000
const soon = { timeout: 60_000, interval: 50 }
const note = packageObstacle === undefined ? "" : ` (skipped: ${packageObstacle})`

const standard = ["ii pve-edk2-firmware 4.2025.02-4", "ii pve-qemu-kvm 10.0.2-4"]
const patched = ["ii pve-edk2-firmware 4.2025.02-4", "hi pve-qemu-kvm 10.0.2-4+lab1"]

describe.skipIf(packageObstacle !== undefined)(
  `packages of nodes with apt and dpkg over SSH${note}`,
  { timeout: patience },
  () => {
    const place = temporaryFolder()
    const folder = join(place, "packages")
    const set = join(folder, "10.0.2-4")
    const repository = join(place, "repository")
    let client: KeyPair
    let key: SigningKey
    const nodes: PackageNode[] = []
    const node = (n: number): PackageNode => nodes[n]!
    const installed = () => nodes.map((one) => one.installed())
    const leftovers = (n: number) => readdirSync(node(n).path("lib")).filter((name) => name.startsWith("rangewright"))

    beforeAll(async () => {
      client = makeKeys()
      key = await createKeyFile(join(place, "key"))
      for (const path of [set, repository]) mkdirSync(path, { recursive: true })
      const offers = [
        buildPackage(repository, "pve-qemu-kvm", "10.0.2-4"),
        buildPackage(repository, "pve-qemu-kvm", "10.1.0-1"),
        buildPackage(repository, "pve-edk2-firmware", "4.2025.02-4"),
        buildPackage(repository, "openssh-server", "1"),
      ]
      // as large as a real one
      buildPackage(set, "pve-qemu-kvm", "10.0.2-4+lab1", "", 32 * 1024 * 1024)
      for (const name of ["pve1", "pve2"]) {
        const one = await openPackageNode(join(place, name), client)
        nodes.push(one)
        one.offer(offers)
        one.run("apt-get", "--yes", "install", "pve-qemu-kvm=10.0.2-4", "pve-edk2-firmware")
      }
    }, patience)
    afterAll(async () => {
      await endAll()
      await Promise.all(nodes.map((one) => one.close()))
      removeFolders()
    })

    describe("one at a time", () => {
      const onNode = <A>(
        use: (packages: NodePackages["Service"]) => Effect.Effect<A, PackagesFault>,
        hostKey = node(0).address.split(" ")[1] ?? "",
      ) =>
        Effect.runPromise(
          Effect.scoped(
            Effect.gen(function* () {
              const port = Number(/:(\d+) /u.exec(node(0).address)?.[1])
              const auth = { privateKey: Redacted.make(client.privateKey) }
              const shell = yield* sshShell({ username: "root", auth, nodes: { pve1: { host: "127.0.0.1", port, hostKey } } })
              return yield* Effect.result(use(sshNodePackages(["pve1"], shell)))
            }),
          ),
        )
      const files = (one: PackageSet) =>
        Effect.flatMap(PackageFolder, ({ file }) =>
          Effect.forEach(one.packages, (each) => Effect.map(file(one, each), (content) => ({ package: each, content }))),
        )
      const installSigned = async () => {
        const [first] = await signPackages(folder, key)
        const read = await Effect.runPromise(Effect.provide(files(first!), packageFolderLayer({ folder, keys: [key.public] })))
        return onNode(({ install }) => install("pve1", first!, read))
      }
      const refusal = (detail: RegExp, reason = "refused") => ({
        _tag: "Failure",
        failure: { facts: { reason, detail: expect.stringMatching(detail) } },
      })

      it("a node reports its installed and available versions", async () => {
        expect(await onNode(({ observe }) => observe("pve1"))).toMatchObject({
          success: {
            architecture: "amd64",
            packages: [
              { name: "pve-edk2-firmware", version: "4.2025.02-4", held: false, settled: true, offered: ["4.2025.02-4"] },
              { name: "pve-qemu-kvm", version: "10.0.2-4", offered: ["10.1.0-1", "10.0.2-4"] },
            ],
          },
        })
      })

      it("a node whose host key is not the pinned one is sent nothing", async () => {
        const before = node(0).commands.length
        expect(await onNode(({ observe }) => observe("pve1"), `SHA256:${"A".repeat(43)}`)).toMatchObject(
          refusal(/its host key is SHA256:.*, not the pinned one/u, "unreachable"),
        )
        expect(node(0).commands.length).toBe(before)
      })

      it("nothing is done that would install or remove another package, or one other than the signed one", async () => {
        const lab1 = join(set, "pve-qemu-kvm_10.0.2-4+lab1_amd64.deb")
        renameSync(lab1, join(place, "lab1.deb"))
        buildPackage(set, "pve-qemu-kvm", "10.0.2-4+lab1", "Depends: openssh-server")
        expect(await installSigned()).toMatchObject(refusal(/apt would also install openssh-server/u))
        buildPackage(set, "pve-qemu-kvm", "10.0.2-4+lab1", "Conflicts: pve-edk2-firmware")
        expect(await installSigned()).toMatchObject(refusal(/apt would also remove pve-edk2-firmware/u))
        buildPackage(set, "pve-qemu-kvm", "10.0.2-4+lab1", "Depends: nobody-has-this")
        expect(await installSigned()).toMatchObject(refusal(/apt-get|env says/u))
        // under a name that is not its own
        renameSync(buildPackage(repository, "openssh-server", "2"), lab1)
        expect(await installSigned()).toMatchObject(
          refusal(/is signed as pve-qemu-kvm 10\.0\.2-4\+lab1 amd64, but is openssh-server 2 amd64/u),
        )
        writeFileSync(lab1, "no package")
        expect(await installSigned()).toMatchObject(refusal(/dpkg-deb says/u))
        renameSync(join(place, "lab1.deb"), lab1)
        for (const name of readdirSync(set).filter((one) => one.startsWith("."))) rmSync(join(set, name), { recursive: true })
        expect(node(0).installed()).toEqual(standard)
        expect(leftovers(0)).toEqual([])
      })

      it("a version that no repository has is not restored, and nothing changes", async () => {
        const versions = [{ name: patchablePackages[0], version: "9" }]
        expect(await onNode(({ restore }) => restore("pve1", versions))).toMatchObject(
          refusal(/Version '9' for 'pve-qemu-kvm' was not found/u),
        )
        expect(node(0).installed()).toEqual(standard)
      })
    })

    it("a service installs them on all nodes, continues after a kill halfway, and restores the originals", async () => {
      const data = temporaryFolder()
      await signPackages(folder, key)
      writeFileSync(join(place, "client-key"), client.privateKey, { mode: 0o600 })
      const environment = {
        RANGEWRIGHT_SIMULATOR_NODES: "2",
        RANGEWRIGHT_NODE_PACKAGES_FOLDER: folder,
        RANGEWRIGHT_NODE_PACKAGES_KEYS: key.public.text,
        RANGEWRIGHT_NODE_PACKAGES_NODES: nodes.map((one, n) => `pve${n + 1}=${one.address}`).join(","),
        RANGEWRIGHT_NODE_PACKAGES_SSH_KEY_FILE: join(place, "client-key"),
      }
      const install = "/antisandbox/install-custom"
      const first = await startService(data, environment)
      const adas = await addUser(first.root, "ADA", true)
      const ada = first.as(adas)
      const status = (by = ada) => by.get<{ readonly result: object }>("/antisandbox/status")
      await vi.waitFor(async () => expect(await status()).toMatchObject({ result: { status: "standard" } }), soon)

      writeFileSync(node(1).path("opt/hold"), "")
      const cut = ada.ask("POST", install).catch(() => "cut off")
      await vi.waitFor(() => expect(existsSync(node(1).path("opt/held"))).toBe(true), soon)
      expect(await ada.ask("POST", "/antisandbox/install-standard")).toMatchObject({ status: 409 })
      await first.crash()
      expect(await cut).toBe("cut off")

      // apt continues on the node, and later commands wait for it
      const before = node(1).commands.length
      const again = (await startService(data, environment)).as(adas)
      await vi.waitFor(
        () =>
          expect(
            node(1)
              .commands.slice(before)
              .filter((line) => line.endsWith("'install'")),
          ).toHaveLength(1),
        soon,
      )
      rmSync(node(1).path("opt/hold"))
      const [run] = await again.get<readonly { readonly id: string }[]>("/runs?kind=node-packages")
      expect(await runEnd(again, run!.id)).toMatchObject({ status: "success" })
      expect(installed()).toEqual([patched, patched])
      expect(leftovers(0)).toEqual([])
      expect(await status(again)).toMatchObject({ result: { status: "custom" } })

      // an update of the node leaves them as they are
      node(0).run("apt-get", "--yes", "upgrade")
      expect(installed()).toEqual([patched, patched])
      expect(await again.ask("POST", install)).toEqual({
        status: 200,
        body: { result: expect.stringContaining("nothing was changed") },
      })
      expect(await again.ask("POST", "/antisandbox/install-standard")).toEqual({
        status: 200,
        body: { result: expect.stringContaining("installed on pve1, pve2. ") },
      })
      expect(installed()).toEqual([standard, standard])
      expect(await status(again)).toMatchObject({ result: { status: "standard" } })
    })
  },
)
