import { galaxyInstallerLayer, libraryLayer } from "@rangewright/adapter-ansible"
import { contentLayer } from "@rangewright/adapter-git"
import { RoleInstaller } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { obstacle, patience, skipNote } from "../../packages/adapter-ansible/test/playbook/support/obstacle.ts"
import { aRelease } from "../contracts/installer/installer.contract.ts"
import { galaxyServer } from "../contracts/installer/support/galaxy-server.ts"

describe.skipIf(obstacle !== undefined)(
  `content published on a Galaxy server${skipNote(obstacle)}`,
  { timeout: patience },
  () => {
    // inside a sandbox, anything that ran could leave no trace
    it("runs no code while it is installed, even without a sandbox", async () => {
      const root = mkdtempSync(join(tmpdir(), "isolation-galaxy-"))
      const server = await galaxyServer()
      onTestFinished(async () => {
        await server.close()
        rmSync(root, { recursive: true, force: true })
      })
      const traces = join(root, "traces")
      const touch = (name: string) => `touch ${traces}-${name}`
      const python = (name: string) => `import os\nos.system(${JSON.stringify(touch(name))})\n`
      const program = (name: string) => ({ program: `#!/bin/sh\n${touch(name)}\n` })
      const pipe = (name: string) => `{{ lookup('pipe', '${touch(name)}') }}`
      const plugins = ["callback", "lookup", "filter", "modules", "module_utils", "vars", "inventory"].map(
        (kind) => [`plugins/${kind}/evil.py`, python(`plugin-${kind}`)] as const,
      )
      server.publish(
        aRelease("collection", "evil.kit", "1.0.0", [], {
          ...Object.fromEntries(plugins),
          "setup.py": python("setup"),
          "ansible.cfg": `[defaults]\ncallbacks_enabled = evil.kit.evil\n`,
          "meta/runtime.yml": `requires_ansible: "${pipe("runtime")}"\n`,
          "requirements.txt": "--index-url http://127.0.0.1:1/\nevil\n",
          "extensions/eda/evil.py": python("eda"),
        }),
      )
      server.publish(
        aRelease("role", "evil.web", "1.0.0", [], {
          "meta/main.yml": `galaxy_info:\n  author: "${pipe("meta")}"\n  description: x\ndependencies: []\n`,
          "meta/argument_specs.yml": `argument_specs: {main: {short_description: "${pipe("specs")}"}}\n`,
          "setup.py": python("role-setup"),
          "ansible.cfg": "[galaxy]\nserver = http://127.0.0.1:1/\n",
          ".git/hooks/post-checkout": program("hook"),
          "tests/test.yml": `- hosts: localhost\n  tasks: [{command: "${touch("test")}"}]\n`,
          "library/evil.py": python("library"),
        }),
      )
      // a role whose dependency is fetched by a program of the publisher's choice
      server.publish(
        aRelease("role", "evil.far", "1.0.0", [], {
          "meta/main.yml": `galaxy_info: {author: x, description: x}\ndependencies:\n  - {src: "git+ext::sh -c ${touch("ext")}", name: far, scm: git}\n`,
        }),
      )
      const below = Layer.mergeAll(
        libraryLayer({ folder: join(root, "library") }),
        contentLayer({ folder: join(root, "content") }),
      )
      const installer = galaxyInstallerLayer({ folder: join(root, "work"), server: server.url, tools: { sandbox: "off" } })
      const install = RoleInstaller.use((port) =>
        port.install({
          scope: { type: "global" },
          roles: [{ name: "evil.web" }, { name: "evil.far" }],
          collections: [{ name: "evil.kit" }],
          force: false,
        }),
      )
      const outcomes = await Effect.runPromise(Effect.provide(install, Layer.provideMerge(installer, below)))
      const installed = outcomes.flatMap(({ name, outcome }) => (outcome === "installed" ? [name] : []))
      expect(installed).toEqual(expect.arrayContaining(["evil.kit", "evil.web"]))
      expect(readdirSync(root).filter((name) => name.startsWith("traces"))).toEqual([])
    })
  },
)
