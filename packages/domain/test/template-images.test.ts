import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it, test } from "vitest"
import { readBuilderImages, withStoredImages } from "../src/source/index.ts"
import { evaluationDays, listsBeside, readChecksum, sumsOf } from "../src/template/index.ts"

const url = "https://images.example/12/linux.iso"
const sha256 = "a".repeat(64)

describe("the images that a builder file names", () => {
  it("are those of the source and of the blocks in it, with variables", () => {
    const text = `
variable "base" { default = "https://images.example/12" }
locals { sum = "sha256:${sha256}" }
source "proxmox-iso" "x" {
  iso_url      = "\${var.base}/linux.iso"
  iso_checksum = local.sum
  disks {
    iso_url = "https://images.example/no"
  }
  additional_iso_files {
    iso_file     = "local:iso/virtio.iso"
    cd_files     = ["x"]
  }
  boot_iso {
    iso_url      = lower("X")
    iso_checksum = "none"
  }
}
`
    expect(readBuilderImages("x.pkr.hcl", text)).toEqual([
      { url, checksum: `sha256:${sha256}`, file: undefined },
      { url: undefined, checksum: undefined, file: "local:iso/virtio.iso" },
      { url: undefined, checksum: "none", file: undefined },
    ])
  })

  it("are found in JSON as well", () => {
    const source = { iso_url: url, iso_checksum: "none", additional_iso_files: [{ iso_file: "local:iso/a.iso" }] }
    const text = JSON.stringify({ source: { "proxmox-iso": { x: [source] } } })
    expect(readBuilderImages("x.pkr.json", text)).toEqual([
      { url, checksum: "none", file: undefined },
      { url: undefined, checksum: undefined, file: "local:iso/a.iso" },
    ])
  })

  it("of the templates that come along are known with their sums", () => {
    const root = fileURLToPath(new URL("../../adapter-packer/templates/templates/", import.meta.url))
    const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".pkr.hcl"))
    const images = files.map((path) => readBuilderImages(path, readFileSync(root + path, "utf8")))
    expect(
      images.every(([first]) => first?.url?.startsWith("https://") && /^(?:sum|list)$/u.test(readChecksum(first.checksum).kind)),
    ).toBe(true)
    expect(images.flat().flatMap(({ url: one }) => evaluationDays(one ?? "") ?? [])).toEqual([180])
  })

  it("take time in proportion to the text", () => {
    const deep = `source "a" "b" {\n${"boot_iso {\n".repeat(40_000)}`
    expect(readBuilderImages("x.pkr.hcl", deep)).toEqual([])
  })
})

test.each([
  [`sha256:${sha256}`, { kind: "sum", type: "sha256", sum: sha256 }],
  [sha256.toUpperCase(), { kind: "sum", type: "sha256", sum: sha256 }],
  [`md5:${sha256}`, { kind: "unreadable" }],
  ["file:https://images.example/SUMS", { kind: "list", url: "https://images.example/SUMS" }],
  ["file:///etc/passwd", { kind: "unreadable" }],
  ["none", { kind: "none" }],
  [undefined, { kind: "unreadable" }],
])("the checksum %s is read", (text, checksum) => {
  expect(readChecksum(text)).toEqual(checksum)
})

describe("a builder file with stored images", () => {
  const volume = "local:iso/rw-iso-1.iso"

  it("names the volume where the URL was; all else stays, line by line", () => {
    const text = `variable "iso" {
  default = "${url}" # iso_url = "x"
}
source "proxmox-iso" "x" {
  boot_iso {
    type             = "scsi"
    iso_url          = var.iso // the newest
    iso_checksum     = join("", [
      "sha256:", "${sha256}",
    ])
    iso_storage_pool = "local"
    unmount          = true
  }
  iso_download_pve = true
  additional_iso_files { iso_url = "https://images.example/other.iso" }
  cd_content = { "iso_url" = "${url}" }
  notes = <<EOT
    iso_url = "${url}"
EOT
}
`
    const written = withStoredImages(text, (image) => (image.url === url ? volume : undefined))
    expect(written).toBe(
      text
        .replace("iso_url          = var.iso //", `iso_file = "${volume}" //`)
        .replace(/iso_checksum {5}= join[^)]*\)/u, "\n\n"),
    )
    expect(readBuilderImages("x.pkr.hcl", written).map(({ file }) => file)).toEqual([volume, undefined])
  })

  it.each([
    ["lists of URLs", `iso_urls = ["${url}"]\n iso_url = "${url}"`],
    ["files beside a URL", `iso_url = "${url}"\n iso_file = "local:iso/mine.iso"`],
    ["an image that is not stored", `iso_url = "https://images.example/mine.iso"`],
    ["a URL that must be computed", `iso_url = lower("${url}")`],
  ])("leaves %s to the builder", (_, attributes) => {
    const text = `source "proxmox-iso" "x" {\n ${attributes}\n}\n`
    expect(withStoredImages(text, (image) => (image.url === url ? volume : undefined))).toBe(text)
  })
})

test("lists of sums are read in the forms that servers have", () => {
  const b = "b".repeat(64)
  expect(sumsOf(`${b}  other.iso\n${sha256}  linux.iso\n`, "linux.iso")).toEqual([sha256])
  expect(sumsOf(`${sha256} *./linux.iso\r\n${b} *x`, "linux.iso")).toEqual([sha256])
  expect(sumsOf(`# CHECKSUM\nSHA256 (linux.iso) = ${sha256}\n`, "linux.iso")).toEqual([sha256])
  expect(sumsOf(`${sha256}\n`, "linux.iso")).toEqual([sha256])
  expect(sumsOf("<html>linux.iso</html>", "linux.iso")).toEqual([])
  expect(listsBeside(url, "sha256")).toEqual([
    "https://images.example/12/SHA256SUMS",
    "https://images.example/12/linux.iso.sha256",
    "https://images.example/12/CHECKSUM",
  ])
})

test.each([
  ["https://x.example/SERVER_EVAL_x64FRE_en-us.iso", 180],
  ["https://x.example/22631.2428.231001-0608.23H2_NI_RELEASE_SVC_REFRESH_CLIENTENTERPRISEEVAL_OEMRET_x64FRE_en-us.iso", 90],
  ["https://x.example/debian-12.iso", undefined],
])("%s may be tried for %s days", (one, days) => {
  expect(evaluationDays(one)).toBe(days)
})
