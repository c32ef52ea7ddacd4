import type { ArtifactEntry } from "@rangewright/ports"
import * as Effect from "effect/Effect"

/** The content of a path: text, bytes, an executable, or a link. */
export type Files = Readonly<Record<string, string | Uint8Array | { readonly program: string } | { readonly link: string }>>

/** Files as they are given to a library. */
export const entriesOf = (files: Files): readonly ArtifactEntry[] =>
  Object.entries(files).map(([path, content]): ArtifactEntry => {
    if (typeof content === "object" && "link" in content) return { kind: "link", path, target: content.link }
    const executable = typeof content === "object" && "program" in content
    const bytes =
      content instanceof Uint8Array ? content : new TextEncoder().encode(typeof content === "string" ? content : content.program)
    return { kind: "file", path, size: bytes.length, executable, read: Effect.succeed(bytes) }
  })

/** Entries with their content, for comparing. */
export const contentsOf = async (entries: readonly ArtifactEntry[]): Promise<Record<string, unknown>> => {
  const contents = new Map<string, unknown>()
  for (const entry of entries) {
    if (entry.kind === "link") {
      contents.set(entry.path, { link: entry.target })
      continue
    }
    const text = new TextDecoder().decode(await Effect.runPromise(entry.read))
    contents.set(entry.path, entry.executable ? { program: text } : text)
  }
  return Object.fromEntries(contents)
}

export const aRole: Files = {
  "meta/main.yml": "galaxy_info: {}\n",
  "tasks/main.yml": "- ansible.builtin.debug:\n",
  "files/run.sh": { program: "#!/bin/sh\n" },
  "templates/run": { link: "../files/run.sh" },
}

export const aCollection = (name: string, version = "1.0.0"): Files => {
  const [namespace, own] = name.split(".")
  return { "galaxy.yml": `namespace: ${namespace}\nname: ${own}\nversion: ${version}\n`, "plugins/x.py": "x = 1\n" }
}

export const aTemplate: Files = { "debian.pkr.hcl": 'source "proxmox-iso" "x" {}\n', "http/preseed.cfg": "d-i\n" }
