import { deriveSourceId, isSourceId, type UserId } from "@rangewright/domain"
import fc from "fast-check"
import { expect, it } from "vitest"

const user = "JD" as UserId
const git = (url: string) => deriveSourceId(user, { type: "git", url })
const upload = (name: string) => deriveSourceId(user, { type: "upload", name })

it.each([
  ["https://git.example/acme/labs.git", "JD-acme-labs"],
  ["https://git.example/group/sub/Labs/", "JD-sub-labs"],
  ["https://git.example/labs", "JD-labs"],
  ["git@git.example:sec/work.shop.git", "JD-sec-work-shop"],
  ["git@git.example:solo.git", "JD-solo"],
  ["ssh://git@git.example:22/o/r", "JD-o-r"],
  ["/srv/git/x.git", "JD-git-x"],
  ["https://git.example/0xabc/x", undefined],
  ["https://git.example/../..", undefined],
  ["", undefined],
])("makes the id of the repository %s", (url, id) => expect(git(url)).toBe(id))

it.each([
  ["My Source.tgz", "JD-my-source"],
  ["labs.tar.gz.zip", "JD-labs-tar-gz"],
  ["folder/labs.TAR.GZ", "JD-labs"],
  ["--a__b--.zip", "JD-a__b"],
  ["_a.zip", undefined],
  ["a -- b.zip", "JD-a-b"],
  [".zip", undefined],
  ["пример.zip", undefined],
])("makes the id of the upload %s", (name, id) => expect(upload(name)).toBe(id))

it("makes an id of nothing but what an id may hold, or none, and begins it with the user's", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 300 }), fc.constantFrom("git", "upload", "folder"), (text, type) => {
      const id = deriveSourceId(user, type === "git" ? { type, url: text } : { type, name: text })
      if (id !== undefined) {
        expect(isSourceId(id)).toBe(true)
        expect(id.startsWith("JD-")).toBe(true)
      }
    }),
  )
})

it("ignores the ending and the case of a repository's URL", () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9_-]{0,20}[a-z0-9]$/u)
  fc.assert(
    fc.property(name, name, (organisation, repository) => {
      const url = `https://git.example/${organisation}/${repository}`
      const ids = [url, `${url}/`, `${url}.git`, `${url}.GIT//`, url.toUpperCase()].map(git)
      expect(new Set(ids).size).toBe(1)
      expect(ids[0]).toBe(git(`git@git.example:${organisation}/${repository}.git`))
    }),
  )
})
