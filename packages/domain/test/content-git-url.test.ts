import * as Result from "effect/Result"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type GitUrl, parseGitRef, parseGitUrl, parseSubmoduleUrl, sameServer, showGitUrl } from "../src/index.ts"

const parsed = (text: string): GitUrl => Result.getOrThrow(parseGitUrl(text))
const rule = (text: string): string | undefined => {
  const result = parseGitUrl(text)
  return Result.isFailure(result) ? result.failure.rule : undefined
}

describe("URLs of repositories", () => {
  test.each([
    ["https://git.example/acme/labs.git", "https", "git.example", 443],
    ["https://GIT.example:8443/acme/labs", "https", "git.example", 8443],
    ["ssh://git@git.example:2222/acme/labs.git", "ssh", "git.example", 2222],
    ["git@git.example:acme/labs.git", "ssh", "git.example", 22],
    ["https://[2001:db8::1]/x.git", "https", "[2001:db8::1]", 443],
    ["file:///srv/git/x.git", "file", "", 0],
  ])("%s is taken", (text, scheme, host, port) => expect(parsed(text)).toMatchObject({ scheme, host, port }))

  test.each([
    ["--upload-pack=touch /tmp/x", "url-form"],
    ["--upload-pack=id", "url-option"],
    ["ext::sh -c id", "url-form"],
    ["ext::id", "url-transport"],
    ["fd::17", "url-transport"],
    ["ftp://git.example/x", "url-transport"],
    ["javascript://x/%0aalert", "url-transport"],
    ["/srv/git/x.git", "url-form"],
    ["../x.git", "url-form"],
    ["https://git.example/x\nhttps://other.example/y", "url-form"],
    ["https://git.example/x\u0000y", "url-form"],
    ["https://git.example/x%0ay", "url-form"],
    ["https://me:secret@git.example/x", "url-credentials"],
    ["https://token@git.example/x", "url-credentials"],
    ["ssh://git:secret@git.example/x", "url-credentials"],
    ["ssh://-oProxyCommand=id/x", "url-option"],
    ["ssh://-oProxyCommand=id@host/x", "url-option"],
    ["-oProxyCommand=id@host:x", "url-option"],
    ["git@-oProxyCommand=id:x", "url-option"],
    ["git@host:-oProxyCommand=id", "url-option"],
    ["ssh://host/-x", "url-option"],
    ["git@host.example;id:x", "url-form"],
    ["ssh://ho$(id)st/x", "url-form"],
    ["https:///x", "url-form"],
    ["https://git.example:0/x", "url-form"],
    ["https://git.example:99999/x", "url-form"],
    ["https://git.example\u0131/x", "url-form"],
    ["https://git.example/x?y=1", "url-form"],
    ["file://host/x", "url-form"],
    ["", "url-form"],
  ])("%j is refused by the rule %s", (text, expected) => expect(rule(text)).toBe(expected))

  test.each(["0x7f000001", "2130706433", "127.1", "0177.0.0.1", "1.2.3.4.5", "10.0.0.0x1"])(
    "the host %s, an address for some programs and a name for others, is refused",
    (host) => expect(rule(`https://${host}/x`)).toBe("url-form"),
  )

  test("an accepted URL cannot be taken for an option, a transport helper or several lines", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((text) => `git@host:${text}`),
        ),
        (text) => {
          const result = parseGitUrl(text)
          if (Result.isFailure(result)) return
          const { remote, host, path, user } = result.success
          expect(remote).toMatch(/^[^\s\\-][^\s\\]*$/u)
          expect(remote).not.toMatch(/^[\w+.-]*::/u)
          for (const part of [host, user ?? "", path.replace(/^\/+/u, "")]) expect(part).not.toMatch(/^-/u)
        },
      ),
    )
  })

  test("a message about a URL shows no credentials", () =>
    expect(showGitUrl("https://me:secret@git.example/x\n")).toBe("https://***@git.example/x\\n"))
})

describe("submodules", () => {
  test.each([
    ["https://git.example/acme/labs.git", "../roles.git", "https://git.example/acme/roles.git"],
    ["https://git.example/acme/labs.git", "./sub", "https://git.example/acme/labs.git/sub"],
    ["git@git.example:acme/labs.git", "../roles.git", "git@git.example:acme/roles.git"],
    ["ssh://git@git.example/acme/labs.git/", "../../x", "ssh://git@git.example/x"],
    ["https://git.example/a/b", "https://other.example/c", "https://other.example/c"],
  ])("of %s, %s is %s", (parent, text, remote) =>
    expect(Result.getOrThrow(parseSubmoduleUrl(parsed(parent), text)).remote).toBe(remote),
  )

  test.each(["../../../x", "--upload-pack=id", "ext::id", "/etc", "../-x/../../-y"])("%s is refused", (text) =>
    expect(Result.isFailure(parseSubmoduleUrl(parsed("https://git.example/a/b"), text))).toBe(true),
  )

  test("credentials are for the same login at the same server only", () => {
    const parent = parsed("https://git.example/a/b")
    expect(sameServer(parent, parsed("https://git.example/other"))).toBe(true)
    for (const other of ["https://git.example:8443/a", "http://git.example/a", "https://git.example.evil.example/a"])
      expect(sameServer(parent, parsed(other))).toBe(false)
  })
})

describe("refs", () => {
  test.each([
    ["", { type: "default" }],
    ["HEAD", { type: "default" }],
    ["main", { type: "name", name: "main" }],
    ["refs/tags/v1.2.0", { type: "name", name: "refs/tags/v1.2.0" }],
    ["feature/größe", { type: "name", name: "feature/größe" }],
    ["A".repeat(40), { type: "commit", commit: "a".repeat(40) }],
    ["1".repeat(64), { type: "commit", commit: "1".repeat(64) }],
  ])("%j is read", (text, ref) => expect(parseGitRef(text)).toEqual(ref))

  test.each([
    "--upload-pack=id",
    "-x",
    "a/-x",
    "a..b",
    "a b",
    "a:b",
    "+a",
    "a^{}",
    "a~1",
    "@",
    "a@{1}",
    "a.lock",
    ".a",
    "/a",
    "a/",
    "a\nb",
    "*",
  ])("%j is no ref", (text) => expect(parseGitRef(text)).toBeUndefined())
})
