import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { ConfigurationError, hypervisorKind, loadConfig } from "../src/config/config.ts"

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rangewright-config-"))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const fileWith = (text: string): string => {
  const path = join(folder, "rangewright.yml")
  writeFileSync(path, text)
  return path
}
const load = (environment: Record<string, string>, file?: string) => loadConfig({ file, environment })
const problems = (environment: Record<string, string>, file?: string): readonly string[] => {
  try {
    load(environment, file)
    return []
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems
    throw error
  }
}
const proxmox = {
  RANGEWRIGHT_PROXMOX_URL: "https://pve1:8006, https://pve2:8006",
  RANGEWRIGHT_PROXMOX_TOKEN_ID: "svc@pve!one",
  RANGEWRIGHT_PROXMOX_TOKEN_SECRET: "s3cret",
}

describe("the configuration", () => {
  test("without anything it is the defaults: port 8080, the simulator", () => {
    const config = load({})
    expect(config.port).toBe(8080)
    expect(hypervisorKind(config)).toBe("simulator")
  })

  test("the VPN needs an endpoint that is a host alone, and a key; nothing else gets into a client's file", () => {
    const key = "6LLkGhyZ4rh8K7xqNZ5jDLzX5A7gxrXqgGm6VhXHXXI="
    const of = (endpoint: string, publicKey = key) =>
      problems({ RANGEWRIGHT_WIREGUARD_ENDPOINT: endpoint, RANGEWRIGHT_WIREGUARD_PUBLIC_KEY: publicKey })
    for (const endpoint of ["vpn.example.org", "vpn", "203.0.113.9", "2001:db8::1"]) expect(of(endpoint)).toEqual([])
    for (const endpoint of ["a.example\nPostUp = sh", "a.example:51820", "[2001:db8::1]", "-a.example", "a b", "x".repeat(300)])
      expect(of(endpoint)).toEqual([expect.stringMatching(/^wireguard_endpoint: must be a host name/u)])
    for (const wrong of ["short", `${key}\nPostUp = sh`, key.replace("I=", "J=")])
      expect(of("vpn", wrong)).toEqual([expect.stringMatching(/^wireguard_public_key: must be 32 bytes/u)])
    expect(problems({ RANGEWRIGHT_WIREGUARD_ENDPOINT: "vpn" })).toEqual([expect.stringContaining("set both or neither")])
    expect(problems({ RANGEWRIGHT_WIREGUARD_SERVER: "ssh", RANGEWRIGHT_WIREGUARD_INTERFACE: "wg0; reboot" })).toEqual([
      expect.stringContaining("wireguard_endpoint: needed"),
      expect.stringContaining("wireguard_ssh_host, wireguard_ssh_key_file and wireguard_ssh_fingerprint: needed"),
      expect.stringContaining("wireguard_interface: must be a name"),
    ])
  })

  test("activation needs a KMS host that machines can reach, or a machine and a key for it, which no problem tells", () => {
    const key = "AAAAA-BBBBB-CCCCC-DDDDD-EEEEE"
    const server = { RANGEWRIGHT_KMS_SERVER: "ADMIN/lab/ADMIN-kms", RANGEWRIGHT_KMS_HOST_KEY: key }
    for (const good of [
      { RANGEWRIGHT_KMS_HOST: "kms.example.org:1688" },
      server,
      { ...server, RANGEWRIGHT_KMS_HOST: "10.0.0.9" },
    ])
      expect(problems(good)).toEqual([])
    for (const host of ["127.0.0.1", "localhost:1688", "kms;calc", "kms:0", "$(calc)", "10.0.0.1"])
      expect(problems({ RANGEWRIGHT_KMS_HOST: host, RANGEWRIGHT_PROTECTED_ADDRESSES: "10.0.0.1" })).toEqual([
        expect.stringMatching(/^kms_host: /u),
      ])
    for (const machine of ["20014", "ADMIN-kms", "ADMIN/", "/ADMIN-kms", "ADMIN//kms", "ADMIN/ADMIN kms", "1/ADMIN-kms"])
      expect(problems({ ...server, RANGEWRIGHT_KMS_SERVER: machine })).toEqual([
        expect.stringMatching(/^kms_server: .*ADMIN\/ADMIN-kms/u),
      ])
    expect(problems({ RANGEWRIGHT_KMS_SERVER: "ADMIN/ADMIN-kms" })).toEqual([expect.stringContaining("set both or neither")])
    expect(problems({ ...server, RANGEWRIGHT_KMS_HOST_KEY: `${key}; calc` })).toEqual([
      "kms_host_key: use five groups of five letters and digits, separated by dashes",
    ])
  })

  test("sign-in at a provider needs the issuer, the client id and the public URL", () => {
    const oidc = {
      RANGEWRIGHT_OIDC_ISSUER: "https://login.example.org/realms/lab",
      RANGEWRIGHT_OIDC_CLIENT_ID: "rangewright",
      RANGEWRIGHT_OIDC_PUBLIC_URL: "https://lab.example.org:8080",
    }
    expect(problems(oidc)).toEqual([])
    const { RANGEWRIGHT_OIDC_CLIENT_ID: _, ...nameless } = oidc
    expect(problems(nameless)).toEqual([expect.stringMatching(/^oidc_client_id: .* belong together/u)])
    expect(problems({ RANGEWRIGHT_OIDC_CLIENT_SECRET: "x" })).toEqual([expect.stringMatching(/^oidc_issuer: needed/u)])
    for (const [name, value, problem] of [
      ["OIDC_ISSUER", "http://login.example.org", /^oidc_issuer: .*not the https URL/u],
      ["OIDC_ISSUER", "https://user:pass@login.example.org", /^oidc_issuer: /u],
      ["OIDC_PUBLIC_URL", "https://lab.example.org/ui", /^oidc_public_url: /u],
      ["OIDC_PUBLIC_URL", "http://lab.example.org", /^oidc_public_url: /u],
      ["OIDC_SCOPES", "email", /^oidc_scopes: openid/u],
      ["OIDC_REDIRECT_URLS", "javascript:alert(1)", /^oidc_redirect_urls: /u],
      ["OIDC_DOMAINS", "*.example.org", /^oidc_domains: /u],
      ["OIDC_NEW_USERS", "create", /^oidc_domains: needed/u],
    ] as const)
      expect(problems({ ...oidc, [`RANGEWRIGHT_${name}`]: value })).toEqual([expect.stringMatching(problem)])
  })

  test("a variable overrides the file, and the file overrides the default", () => {
    const file = fileWith("port: 9000\nsdn_zone: labs\n")
    expect(load({}, file).port).toBe(9000)
    expect(load({ RANGEWRIGHT_PORT: "9001" }, file).port).toBe(9001)
    expect(load({ RANGEWRIGHT_PORT: "9001" }, file).sdnZone).toBe("labs")
  })

  test("several URLs of one cluster may be given, as a list or separated by commas", () => {
    expect(load(proxmox).proxmoxUrl).toEqual(["https://pve1:8006", "https://pve2:8006"])
    const { RANGEWRIGHT_PROXMOX_URL: _, ...rest } = proxmox
    expect(load(rest, fileWith("proxmox_url: [https://pve1:8006]\n")).proxmoxUrl).toEqual(["https://pve1:8006"])
    expect(hypervisorKind(load(proxmox))).toBe("proxmox")
  })

  test("a secret may come from a file of its own, without its last line end", () => {
    const secret = join(folder, "token")
    writeFileSync(secret, "from-file\n")
    const { RANGEWRIGHT_PROXMOX_TOKEN_SECRET: _, ...rest } = proxmox
    expect(load({ ...rest, RANGEWRIGHT_PROXMOX_TOKEN_SECRET_FILE: secret }).proxmoxTokenSecret).toBe("from-file")
    expect(load(rest, fileWith(`proxmox_token_secret_file: ${secret}\n`)).proxmoxTokenSecret).toBe("from-file")
  })

  test("misspelt names are reported", () => {
    expect(problems({ RANGEWRIGHT_POORT: "1" })).toEqual([expect.stringContaining("RANGEWRIGHT_POORT")])
    expect(problems({}, fileWith("prot: 1\n"))).toEqual([expect.stringContaining("prot")])
  })

  test("the version that clients are told is three numbers, of the second generation or later", () => {
    expect(load({}).peerVersion).toBe("2.3.0")
    expect(load({ RANGEWRIGHT_PEER_VERSION: "2.10.0" }).peerVersion).toBe("2.10.0")
    for (const wrong of ["1.9.9", "2.3", "v2.3.0", "2.3.0+x", "2.03.0", "two", ""])
      expect([wrong, problems({ RANGEWRIGHT_PEER_VERSION: wrong })]).toEqual([wrong, [expect.stringContaining("peer_version")]])
    expect(problems({}, fileWith("peer_version: 2.3\n"))).toEqual([expect.stringContaining("peer_version")])
  })

  test("all problems are told at once, and no secret among them", () => {
    const found = problems({ RANGEWRIGHT_PORT: "many", RANGEWRIGHT_LOG_LEVEL: "loud", RANGEWRIGHT_SECRET_KEY: "hush-hush" })
    expect(found).toHaveLength(2)
    expect(found.join()).not.toContain("hush-hush")
  })

  test.each([
    [{ ...proxmox, RANGEWRIGHT_PROXMOX_TOKEN_ID: "root" }, "proxmox_token_id"],
    [{ RANGEWRIGHT_PROXMOX_URL: "pve1" }, "proxmox_url"],
    [{ RANGEWRIGHT_HYPERVISOR: "proxmox" }, "proxmox_url"],
    [{ RANGEWRIGHT_TLS_CERT: "a.pem" }, "tls_cert"],
    [{ RANGEWRIGHT_SSH_HOST: "pve1" }, "ssh_fingerprint"],
    [{ RANGEWRIGHT_ADMIN_PORT: "8080" }, "admin_port"],
    [{ RANGEWRIGHT_VMID_FROM: "500", RANGEWRIGHT_VMID_TO: "400" }, "vmid_to"],
    [{ RANGEWRIGHT_RESERVED_RANGE_NUMBERS: "7,154" }, "154"],
    [{ RANGEWRIGHT_INACTIVITY_SHUTDOWN_TIMEOUT: "soon" }, "inactivity_shutdown_timeout"],
  ])("%j is refused", (environment, name) => {
    expect(problems(environment as Record<string, string>).join("\n")).toContain(name)
  })

  test.each(["[1, 2]", "port: [", "just text"])("a file that holds %s is refused by name", (text) => {
    expect(problems({}, fileWith(text)).join()).toContain("rangewright.yml")
  })

  test("logins of templates come from the file or one of their own, and are never told when they are wrong", () => {
    const golden = { user: "Administrator", password: "S3cret:of the golden one" }
    const of = (yaml: string) => load({}, fileWith(yaml)).templateLogins.get("win2022-golden")
    expect(of(`template_logins: { win2022-golden: ${JSON.stringify(golden)} }`)).toEqual(golden)
    writeFileSync(join(folder, "logins.yml"), `win2022-golden: ${JSON.stringify(golden)}\n`)
    expect(of(`template_logins_file: ${join(folder, "logins.yml")}`)).toEqual(golden)
    for (const [login, problem] of [
      [{ ...golden, passwort: "x" }, "unknown key passwort"],
      [{ ...golden, user: "x'; id" }, "user must be a name"],
      [{ user: "root" }, "password must be one line of text"],
      [{ ...golden, password: "{{ S3cret }}" }, "without {{"],
      [{ ...golden, password: "S3cret\n  x: y" }, "must be one line of text"],
      ["S3cret", "user and password are needed"],
    ] as const) {
      const told = problems({}, fileWith(`template_logins: { win2022-golden: ${JSON.stringify(login)} }`)).join()
      expect(told).toContain("template_logins: win2022-golden: ")
      expect(told).toContain(problem)
      expect(told).not.toContain("S3cret")
    }
  })

  test("the defaults of ranges are checked key by key, with the key that was meant", () => {
    expect(problems({}, fileWith("defaults: { timezone: Europe/Berlin, machine_logins: generated }"))).toEqual([])
    expect(problems({}, fileWith("defaults: { time_zone: Europe/Berlin }")).join()).toMatch(
      /^defaults\.time_zone: the key .time_zone. is not known here; did you mean .timezone.\?/u,
    )
    expect(problems({}, fileWith("defaults: { machine_logins: own }")).join()).toMatch(
      /^defaults\.machine_logins: .*template, generated/u,
    )
    expect(problems({}, fileWith("defaults: { ad_domain_admin_password: [S3cret] }")).join()).not.toContain("S3cret")
  })

  test("misspelt names come with the one that was meant", () => {
    expect(problems({ RANGEWRIGHT_PROXMOX_ULR: "x" }, fileWith("proxmox_urll: x"))).toEqual([
      "proxmox_urll: no such key; did you mean proxmox_url? (docs/configuration.md lists all)",
      "RANGEWRIGHT_PROXMOX_ULR: no such variable; did you mean RANGEWRIGHT_PROXMOX_URL? (docs/configuration.md lists all)",
    ])
  })

  test("an unreadable file is reported with its path and a hint", () => {
    const none = join(folder, "none")
    expect(problems({}, none)).toEqual([`there is no file ${none} (--config or RANGEWRIGHT_CONFIG names it)`])
    expect(problems({}, folder).join()).toContain(`${folder} is a folder`)
    expect(
      problems({ ...proxmox, RANGEWRIGHT_PROXMOX_TOKEN_SECRET_FILE: none, RANGEWRIGHT_PROXMOX_TOKEN_SECRET: undefined! }),
    ).toEqual([`RANGEWRIGHT_PROXMOX_TOKEN_SECRET_FILE: there is no file ${none}`])
  })

  test("the hypervisor needs https, except on this host", () => {
    const of = (url: string) => problems({ ...proxmox, RANGEWRIGHT_PROXMOX_URL: url })
    expect(of("http://pve1.example:8006")).toEqual([
      "proxmox_url: http://pve1.example:8006 would send the token unencrypted: write https://pve1.example:8006",
    ])
    expect(of("pve1.example")).toEqual(["proxmox_url: pve1.example is not a valid https URL, such as https://pve1.example:8006"])
    for (const url of ["http://127.0.0.1:18006", "http://localhost:18006", "http://[::1]:18006"]) expect(of(url)).toEqual([])
  })

  test("names proxies by addresses and networks", () => {
    expect(load({ RANGEWRIGHT_TRUSTED_PROXIES: "127.0.0.1, 10.0.5.0/24, fd00::/8" }).trustedProxies).toHaveLength(3)
    expect(problems({ RANGEWRIGHT_TRUSTED_PROXIES: "10.0.5.0/24, proxy.example" })).toEqual([
      "trusted_proxies: proxy.example is not an address or network such as 10.0.5.0/24",
    ])
  })
})
