import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { temporaryFolder } from "./folder.ts"
import { smallLab } from "./lab.ts"

/** A git repository that ships a blueprint and its role, and a folder that is no template. */
export const sourceRepository = (description: string): string => {
  const folder = temporaryFolder()
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  write("source.yml", "manifest_version: 1\nname: Lessons\n")
  write(
    "blueprints/lesson/blueprint.yml",
    `id: lesson\nname: Lesson\nversion: 1.0.0\nconfig: range-config.yml\ndescription: '${description}'\n`,
  )
  write("blueprints/lesson/range-config.yml", smallLab(1).replace("linux: true", "linux: true\n    roles: [greeting]"))
  write("ansible/roles/greeting/tasks/main.yml", "- debug: msg=hello\n")
  write("ansible/roles/greeting/meta/main.yml", "galaxy_info:\n  description: Says hello\n")
  write("templates/empty/readme.md", "Nothing to build here.\n")
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.test", ...args], { cwd: folder, stdio: "ignore" })
  git("init", "--initial-branch=main")
  git("add", "--all")
  git("commit", "--message=all")
  return folder
}
