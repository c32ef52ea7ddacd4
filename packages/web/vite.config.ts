import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { brotliCompress, gzip } from "node:zlib"
import { defineConfig, type Plugin } from "vite"

/** Beside each text its compressed forms, which the service would make at each start. */
const compressed: Plugin = {
  name: "compressed",
  // once they are written: before, other plugins still change them
  async writeBundle({ dir = "" }, bundle) {
    const texts = Object.keys(bundle).filter((name) => /\.(?:html|js|css|svg)$/u.test(name))
    await Promise.all(
      texts.map(async (name) => {
        const file = join(dir, name)
        const plain = await readFile(file)
        await writeFile(`${file}.br`, await promisify(brotliCompress)(plain))
        await writeFile(`${file}.gz`, await promisify(gzip)(plain, { level: 9 }))
      }),
    )
  },
}

/** As the browser asked: a session counts for the host that the page is of. */
const service = { target: process.env["RANGEWRIGHT_URL"] ?? "http://127.0.0.1:8080", changeOrigin: false, ws: true }

export default defineConfig({
  plugins: [compressed],
  base: "/ui/",
  // what the page is made of lies in src; nothing is copied unseen
  publicDir: false,
  build: {
    target: "es2024",
    // the policy of the page allows scripts of its own origin only: nothing is put into the document itself
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // what every page needs is one file: a page costs its own file and no chain of small ones
        codeSplitting: {
          groups: [
            { name: "common", test: /preact|packages\/web\/src\/(?:api|live|parts|[a-z]+\.ts|range\/(?:patch|sentence))/u },
          ],
        },
      },
    },
  },
  // for work on the page: `RANGEWRIGHT_URL=http://127.0.0.1:8080 npx vite packages/web`
  server: { proxy: { "/api": service, "/ui/session": service } },
})
