import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** The content of a path: text, bytes, an executable, or a link. Undefined removes it. */
export type Content = string | Uint8Array | { readonly program: string } | { readonly link: string } | undefined
export type Files = Readonly<Record<string, Content>>

/** Writes files below a folder, unchanged. */
export const writeFiles = (folder: string, files: Files): void => {
  for (const [path, content] of Object.entries(files)) {
    const at = join(folder, path)
    rmSync(at, { force: true, recursive: true })
    if (content === undefined) continue
    mkdirSync(dirname(at), { recursive: true })
    if (typeof content === "string" || content instanceof Uint8Array) writeFileSync(at, content)
    else if ("link" in content) symlinkSync(content.link, at)
    else {
      writeFileSync(at, content.program)
      chmodSync(at, 0o755)
    }
  }
}

/** A real repository to fetch from: a work tree, and the bare repository that is served. */
export interface TestRepository {
  readonly name: string
  /** Of the bare repository. */
  readonly folder: string
  readonly git: (...args: readonly string[]) => string
  /** Commits the changed files, and returns the commit's name. */
  readonly commit: (files: Files) => string
  readonly tag: (name: string) => void
  /** Commits a tree that no work tree could hold, given as lines for git mktree. */
  readonly commitTree: (lines: readonly string[]) => string
  readonly blob: (content: string | Uint8Array) => string
  readonly push: () => void
}

const environment = {
  PATH: process.env["PATH"],
  HOME: "/nonexistent",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_DATE: "2026-01-01T00:00:00Z",
  GIT_COMMITTER_DATE: "2026-01-01T00:00:00Z",
}
const identity = ["-c", "user.name=Test", "-c", "user.email=test@lab.example", "-c", "protocol.file.allow=always"]

/** A repository named `<name>.git` in `root`, with the branch main. */
export const testRepository = (root: string, name: string, files: Files, objectFormat = "sha1"): TestRepository => {
  const work = mkdtempSync(join(root, "work-"))
  const folder = join(root, `${name}.git`)
  const run = (args: readonly string[], input?: string | Uint8Array): string =>
    execFileSync("git", [...identity, ...args], {
      cwd: work,
      env: environment,
      encoding: "utf8",
      stdio: ["pipe", "pipe", "pipe"],
      ...(input === undefined ? {} : { input }),
    }).trim()
  const git = (...args: readonly string[]) => run(args)
  const format = `--object-format=${objectFormat}`
  git("init", "-q", "-b", "main", format)
  execFileSync("git", ["init", "-q", "--bare", "-b", "main", format, folder], { env: environment })
  git("remote", "add", "origin", folder)
  const push = () => void git("push", "-q", "--force", "origin", "--all", "--follow-tags")
  const repository: TestRepository = {
    name,
    folder,
    git,
    push,
    commit: (changed) => {
      writeFiles(work, changed)
      git("add", "-A", "-f")
      git("commit", "-q", "--allow-empty", "-m", "change")
      push()
      return git("rev-parse", "HEAD")
    },
    tag: (tag) => {
      git("tag", "-a", "-m", tag, tag)
      git("push", "-q", "origin", `refs/tags/${tag}`)
    },
    blob: (content) => run(["hash-object", "-w", "--stdin"], content),
    commitTree: (lines) => {
      const tree = run(["mktree"], `${lines.join("\n")}\n`)
      const commit = git("commit-tree", "-m", "crafted", tree)
      git("update-ref", "refs/heads/main", commit)
      push()
      return commit
    },
  }
  repository.commit(files)
  return repository
}
