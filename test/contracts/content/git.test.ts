import { loadOrCreateCertificate } from "@rangewright/adapter-crypto"
import { type ContentProgress, ContentFetcher } from "@rangewright/ports"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { userInfo } from "node:os"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { gitHttp, wantsPassword } from "./support/git-http.ts"
import { gitSsh, makeKeys } from "./support/git-ssh.ts"
import { testRepository } from "./support/repository.ts"
import { damageListing, gitWorld, textOf } from "./support/world.ts"

const at = (port: number, name: string) => `http://127.0.0.1:${port}/${name}.git`
const paths = (snapshot: { readonly files: readonly { readonly path: string }[] }) => snapshot.files.map(({ path }) => path)

describe("git over http", () => {
  test("a repository becomes the committed files on disk, whatever its attributes say", async () => {
    const world = gitWorld()
    const repository = testRepository(world.served, "labs", {
      ".gitattributes": "* text eol=crlf export-ignore ident filter=evil\n",
      "source.yml": "name: $Id$\n",
      "run.sh": { program: "#!/bin/sh\n" },
      "roles/a/files/x": new Uint8Array([0, 255, 7, 10]),
      "roles/a/templates/x": { link: "../files/x" },
    })
    const server = await gitHttp(world.served)
    const snapshot = await world.fetch({ type: "git", url: at(server.port, "labs") })
    expect(snapshot.id).toBe(repository.git("rev-parse", "HEAD"))
    expect(snapshot.files).toEqual([
      expect.objectContaining({ path: ".gitattributes" }),
      { kind: "file", path: "roles/a/files/x", size: 4, executable: false },
      { kind: "link", path: "roles/a/templates/x", target: "../files/x" },
      { kind: "file", path: "run.sh", size: 10, executable: true },
      { kind: "file", path: "source.yml", size: 11, executable: false },
    ])
    const root = snapshot.root ?? ""
    expect(readFileSync(join(root, "source.yml"), "utf8")).toBe("name: $Id$\n")
    expect([...readFileSync(join(root, "roles/a/templates/x"))]).toEqual([0, 255, 7, 10])
    expect(["source.yml", "run.sh"].map((path) => (statSync(join(root, path)).mode & 0o777).toString(8))).toEqual(["444", "555"])
    expect(existsSync(join(root, ".git"))).toBe(false)
    world.expectClean()
    await server.close()
  })

  test("branches, tags, full names and commits are all refs, and can be fetched one after another", async () => {
    const world = gitWorld()
    const repository = testRepository(world.served, "labs", { a: "1" })
    const first = repository.git("rev-parse", "HEAD")
    repository.tag("v1")
    repository.git("checkout", "-q", "-b", "feature/x")
    const second = repository.commit({ a: "2" })
    const server = await gitHttp(world.served)
    const commitOf = async (ref?: string) =>
      (await world.fetch({ type: "git", url: at(server.port, "labs"), ...(ref === undefined ? {} : { ref }) })).id
    expect(await commitOf()).toBe(first)
    expect(await commitOf("feature/x")).toBe(second)
    expect(await commitOf("v1")).toBe(first)
    expect(await commitOf("refs/heads/feature/x")).toBe(second)
    expect(await commitOf(first.toUpperCase())).toBe(first)
    expect(await commitOf(second)).toBe(second)
    expect(readdirSync(join(world.folder, "repositories"))).toHaveLength(1)
    const fault = await world.fault({ type: "git", url: at(server.port, "labs"), ref: "nowhere" })
    expect(fault).toMatchObject({ kind: "not-found", facts: { reason: "not-found", rule: "ref" } })
    await server.close()
  })

  test("a commit whose snapshot is damaged is fetched again", async () => {
    const world = gitWorld()
    testRepository(world.served, "labs", { a: "1" })
    const location = { type: "git", url: `file://${world.served}/labs.git` } as const
    const snapshot = await world.fetch(location)
    damageListing(world, snapshot, "[")
    expect(await world.fetch(location)).toEqual(snapshot)
    world.expectClean()
  })

  test("a repository whose objects have the longer names is fetched like any other, also where one with the shorter ones was", async () => {
    const world = gitWorld()
    const short = testRepository(world.served, "labs", { a: "1" })
    const url = `file://${world.served}/labs.git`
    expect((await world.fetch({ type: "git", url })).id).toBe(short.git("rev-parse", "HEAD"))
    rmSync(join(world.served, "labs.git"), { recursive: true })
    const long = testRepository(world.served, "labs", { a: "1" }, "sha256")
    const commit = long.git("rev-parse", "HEAD")
    expect(commit).toHaveLength(64)
    for (const ref of ["", commit, "main"]) expect((await world.fetch({ type: "git", url, ref })).id).toBe(commit)
    expect((await world.fault({ type: "git", url, ref: "nowhere" })).facts.rule).toBe("ref")
  })

  test("without changes no file is read again; a moved branch is followed", async () => {
    const world = gitWorld()
    const repository = testRepository(world.served, "labs", { a: "1", b: "same" })
    const server = await gitHttp(world.served)
    const location = { type: "git", url: at(server.port, "labs") } as const
    const phases: ContentProgress[] = []
    const sync = ContentFetcher.use((fetcher) =>
      fetcher.fetch({ location, holder: "test", progress: (progress) => Effect.sync(() => phases.push(progress)) }),
    )
    const first = await world.run(sync)
    expect(phases).toContainEqual({ phase: "writing", item: location.url, done: 2, total: 2 })
    expect(phases.map(({ phase }) => phase)).toContain("receiving")
    phases.length = 0
    expect((await world.run(sync)).id).toBe(first.id)
    expect(phases.map(({ phase }) => phase)).not.toContain("writing")
    const moved = repository.commit({ a: "2" })
    expect((await world.run(sync)).id).toBe(moved)
    expect(await world.run(textOf(first, "a"))).toBe("1")
    await server.close()
  })

  test("a private repository is fetched with its token, which is nowhere on disk afterwards", async () => {
    const world = gitWorld()
    testRepository(world.served, "labs", { a: "1" })
    const server = await gitHttp(world.served, wantsPassword("s3cret-token"))
    const location = { type: "git", url: at(server.port, "labs") } as const
    const token = (text: string) => ({ type: "token", username: "me", token: Redacted.make(text) }) as const
    expect((await world.fault(location)).facts.reason).toBe("unauthenticated")
    const snapshot = await world.fetch({ ...location, access: token("s3cret-token") })
    expect(paths(snapshot)).toEqual(["a"])
    expect(server.requests.at(-1)?.authorization).toBe("me:s3cret-token")
    const wrong = await world.fault({ ...location, access: token("wr0ng-token") })
    expect(wrong.facts.reason).toBe("unauthenticated")
    expect(JSON.stringify([wrong, wrong.message])).not.toContain("wr0ng")
    // the cache has the commit, but a caller without access gets nothing
    expect((await world.fault({ ...location, ref: snapshot.id })).facts.reason).toBe("unauthenticated")
    for (const entry of readdirSync(world.folder, { recursive: true, withFileTypes: true }))
      if (entry.isFile()) expect(readFileSync(join(entry.parentPath, entry.name), "latin1")).not.toContain("s3cret")
    world.expectClean()
    await server.close()
  })

  test("git connects to the checked address, whatever the name resolves to elsewhere", async () => {
    const world = gitWorld()
    testRepository(world.served, "labs", { a: "1" })
    const server = await gitHttp(world.served)
    const url = `http://git.example.invalid:${server.port}/labs.git`
    const asked: string[] = []
    const lookup = (addresses: readonly string[]) => async (host: string) => (asked.push(host), addresses)
    expect(paths(await world.fetch({ type: "git", url }, { lookup: lookup(["127.0.0.1"]) }))).toEqual(["a"])
    expect(asked).toEqual(["git.example.invalid"])
    for (const addresses of [["10.0.0.1"], ["169.254.169.254"], ["93.184.216.34", "10.0.0.1"], ["::ffff:10.0.0.1"]]) {
      const before = server.requests.length
      const fault = await world.fault({ type: "git", url }, { lookup: lookup(addresses) })
      expect(fault.facts).toMatchObject({ reason: "refused", rule: "address" })
      expect(server.requests).toHaveLength(before)
    }
    await server.close()
  })

  test("over https the certificate must match the name, although the connection goes to the checked address", async () => {
    const world = gitWorld({ schemes: ["https"], lookup: async () => ["127.0.0.1"] })
    testRepository(world.served, "labs", { a: "1" })
    const file = join(world.root, "certificate")
    const certificate = await Effect.runPromise(loadOrCreateCertificate(file, ["git.example.invalid"], new Date()))
    const caFile = join(world.root, "ca.pem")
    writeFileSync(caFile, certificate.cert)
    const server = await gitHttp(world.served, undefined, certificate)
    const location = (host: string) => ({ type: "git", url: `https://${host}:${server.port}/labs.git` }) as const
    expect(paths(await world.fetch(location("git.example.invalid"), { caFile }))).toEqual(["a"])
    for (const [host, more] of [
      ["git.example.invalid", {}],
      ["other.example.invalid", { caFile }],
    ] as const)
      expect((await world.fault(location(host), more)).facts).toMatchObject({ reason: "unreachable", rule: "certificate" })
    await server.close()
  })

  test("a server that breaks off counts as unreachable, and the cache stays", async () => {
    const world = gitWorld({ schemes: ["http", "https"], lookup: async () => ["127.0.0.1"] })
    testRepository(world.served, "labs", { a: "1" })
    const certificate = await Effect.runPromise(
      loadOrCreateCertificate(join(world.root, "certificate"), ["git.example.invalid"], new Date()),
    )
    const caFile = join(world.root, "ca.pem")
    writeFileSync(caFile, certificate.cert)
    for (const own of [undefined, certificate]) {
      let broken = false
      const server = await gitHttp(world.served, (request) => broken && request.socket.destroy().destroyed, own)
      const url = `${own === undefined ? "http" : "https"}://git.example.invalid:${server.port}/labs.git`
      await world.fetch({ type: "git", url }, { caFile })
      const caches = readdirSync(join(world.folder, "repositories"))
      broken = true
      const { facts } = await world.fault({ type: "git", url }, { caFile })
      expect([facts.reason, facts.rule]).toEqual(["unreachable", undefined])
      expect(readdirSync(join(world.folder, "repositories"))).toEqual(caches)
      await server.close()
    }
  })

  test("while git runs, no secret is in the arguments, the environment or a file that others may read", async () => {
    const world = gitWorld()
    testRepository(world.served, "labs", { a: "1" })
    const server = await gitHttp(world.served, wantsPassword("s3cret-token"))
    // the watcher writes where nothing in a sandbox could
    const [log, git] = [join(world.root, "log"), join(world.root, "git")]
    const modes = `ls -ld "\${GIT_ASKPASS%/*}" "\${GIT_ASKPASS%/*}"/* | cut -c1-10`
    writeFileSync(git, `#!/bin/sh\n{ echo "$@"; env; [ "$1" = --version ] || ${modes}; } >> '${log}'\nexec git "$@"\n`, {
      mode: 0o755,
    })
    const access = { type: "token", token: Redacted.make("s3cret-token") } as const
    await world.fetch({ type: "git", url: at(server.port, "labs"), access }, { git, tools: { sandbox: "off" } })
    const seen = readFileSync(log, "utf8")
    expect(seen).toContain("--depth=1")
    expect(seen).toMatch(/^drwx------$/mu)
    expect(seen).toMatch(/^-rw-------$/mu)
    expect(seen).not.toContain("s3cret")
    await server.close()
  })

  test("concurrent fetches of one repository share its cache and the snapshot", async () => {
    const world = gitWorld()
    const repository = testRepository(world.served, "labs", { a: "1" })
    repository.tag("v1")
    const newest = repository.commit({ a: "2" })
    const server = await gitHttp(world.served)
    const one = (ref: string, holder: string) =>
      ContentFetcher.use((fetcher) => fetcher.fetch({ location: { type: "git", url: at(server.port, "labs"), ref }, holder }))
    const all = ["main", "v1", "main", newest, "main"].map((ref, n) => one(ref, `source:${n}`))
    const snapshots = await world.run(Effect.all(all, { concurrency: "unbounded" }))
    expect(new Set(snapshots.map(({ id }) => id)).size).toBe(2)
    expect(snapshots[0]?.id).toBe(newest)
    expect(readdirSync(join(world.folder, "snapshots"))).toHaveLength(2)
    expect(await world.run(ContentFetcher.use((fetcher) => fetcher.pinned("source:4")))).toEqual([newest])
    world.expectClean()
    await server.close()
  })

  test("a redirect is not followed, wherever it leads", async () => {
    const world = gitWorld()
    testRepository(world.served, "labs", { a: "1" })
    const inner = await gitHttp(world.served)
    const outer = await gitHttp(world.served, (request, response) => {
      response.writeHead(302, { location: `http://127.0.0.1:${inner.port}${request.url}` }).end()
      return true
    })
    const fault = await world.fault({ type: "git", url: at(outer.port, "labs") })
    expect(fault.facts).toMatchObject({ reason: "refused", rule: "redirect" })
    expect(inner.requests).toEqual([])
    await Promise.all([inner.close(), outer.close()])
  })

  test("a missing repository and an unreachable server are distinguished", async () => {
    const world = gitWorld()
    const server = await gitHttp(world.served)
    expect((await world.fault({ type: "git", url: at(server.port, "none") })).facts).toMatchObject({ rule: "repository" })
    await server.close()
    expect((await world.fault({ type: "git", url: at(server.port, "none") })).facts.reason).toBe("unreachable")
  })
})

/** An account without an entry in /etc/passwd, such as a container's arbitrary uid: ssh refuses to run outside of a sandbox. */
const hasPasswdEntry = (): boolean => {
  try {
    return userInfo().username !== ""
  } catch {
    return false
  }
}

describe("git over ssh", () => {
  const key = (privateKey: string, hostKey: string) =>
    ({ type: "ssh-key", privateKey: Redacted.make(privateKey), hostKey }) as const

  test.runIf(hasPasswdEntry())(
    "a key opens a repository at the checked address of a server with the pinned host key",
    async () => {
      const world = gitWorld({ lookup: async () => ["127.0.0.1"] })
      testRepository(world.served, "labs", { a: "1" })
      const keys = makeKeys()
      const server = await gitSsh(world.served, keys)
      const location = { type: "git", url: `ssh://git@git.example.invalid:${server.port}/labs.git` } as const
      expect(paths(await world.fetch({ ...location, access: key(keys.privateKey, server.hostKey) }))).toEqual(["a"])
      expect(server.commands).toEqual(["git-upload-pack '/labs.git'"])

      const other = makeKeys()
      const imposter = await world.fault({ ...location, access: key(keys.privateKey, `SHA256:${"A".repeat(43)}`) })
      expect(imposter.facts).toMatchObject({ reason: "refused", rule: "host-key" })
      const stranger = await world.fault({ ...location, access: key(other.privateKey, server.hostKey) })
      expect(stranger.facts.reason).toBe("unauthenticated")
      expect((await world.fault(location)).facts).toMatchObject({ reason: "refused", rule: "access" })
      const forged = await world.fault({ ...location, access: key(keys.privateKey, "SHA256:x'; touch /tmp/x; '") })
      expect(forged.facts).toMatchObject({ reason: "refused", rule: "access" })
      expect(server.commands).toHaveLength(1)
      world.expectClean()
      await server.close()
    },
  )
})

describe("the host's git", () => {
  test("reports its version", async () =>
    expect(await gitWorld().run(ContentFetcher.use((fetcher) => fetcher.gitAvailable))).toMatchObject({ available: true }))

  test("is reported as missing before anything is tried", async () => {
    const world = gitWorld({ git: "/nonexistent/git" })
    expect(await world.run(ContentFetcher.use((fetcher) => fetcher.gitAvailable))).toEqual({
      available: false,
      because: "git is not installed on the service's host",
    })
    const fault = await world.fault({ type: "git", url: "http://127.0.0.1:1/x.git" })
    expect(fault.facts).toMatchObject({ reason: "unavailable", rule: "git" })
  })
})
